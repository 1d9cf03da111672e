"""Run tasks on workers: processes of this machine, a Ray cluster or Slurm jobs."""
