#PBS -N w1ng012h6crvmar
#PBS -j oe
#PBS -o /work/attempts/w1ng012h6crvmar/scheduler.log
#PBS -r n
#PBS -l select=1:ncpus=64:ngpus=4:mem=32000mb
#PBS -l walltime=1:00:00
#PBS -q main
#PBS -A UXYZ0001
