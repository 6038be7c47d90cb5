for form do
    said=$(eval "$form -c wheelyard-probe.c -o wheelyard-probe.o" 2>/dev/null </dev/null)
    case $?:$said in
        *:wheelyard-governor) echo 1 ;;
        126:*|127:*) echo - ;;
        *) echo 0 ;;
    esac
done
