{ # this batch system sends no warning; count the job's own minutes, not the clock's
    alarm_s={{seconds}}
    for ((passed = 0; passed < alarm_s; passed += nap)); do
        nap=$((alarm_s - passed < 60 ? alarm_s - passed : 60))
        sleep "$nap" || exit
        # The agent writes it when another time was granted.
        read -r granted < "$folder/alarm_s" && ((granted > 0)) && alarm_s=$granted
    done 2> /dev/null
    kill -USR1 "$$"
} &
alarm=$!
disown "$alarm" # else bash reports its end as that of a killed process
