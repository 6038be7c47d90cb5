#PBS -N w1ng012h6crvmar
#PBS -j oe
#PBS -o /work/attempts/w1ng012h6crvmar/scheduler.log
#PBS -r n
#PBS -l select=1:ncpus=2:ngpus=4:mem=2400mb
#PBS -l walltime=0:30:00
#PBS -q main
#PBS -A UXYZ0001
