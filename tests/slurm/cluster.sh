#!/usr/bin/env bash
# A real Slurm of one node on the loopback device, for tests/test_slurm.py; needs root and the Debian packages
# slurm-wlm and munge. `cluster.sh start DIR` puts configuration, state and logs into DIR; afterwards
# SLURM_CONF=DIR/slurm.conf makes sbatch and the others talk to it. `cluster.sh stop DIR` ends it.
set -euo pipefail

write_configuration() {
    local host
    host=$(hostname -s)
    mkdir -p "$dir/state" "$dir/spool"
    # MaxArraySize is small so that a short list of jobs shows what happens to a long one.
    cat >"$dir/slurm.conf" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MaxArraySize=4
ReturnToService=2
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.log
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc)
PartitionName=test Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
}

start_munge() {
    ! munge -n >/dev/null 2>&1 || return 0
    install -d -o munge -g munge /run/munge /var/log/munge /var/lib/munge
    [ -e /etc/munge/munge.key ] || runuser -u munge -- mungekey
    runuser -u munge -- munged
}

node_is_ready() { [ "$(sinfo --noheader --format=%T 2>/dev/null)" = idle ]; }

start() {
    local _
    write_configuration
    start_munge
    slurmctld
    slurmd
    for _ in {1..60}; do
        ! node_is_ready || return 0
        sleep 0.5
    done
    echo "cluster.sh: error: the node is not ready after 30 seconds; the last lines of the logs:" >&2
    tail -n 5 "$dir"/*.log >&2
    return 1
}

stop() {
    local file
    for file in "$dir"/slurmd.pid "$dir"/slurmctld.pid; do
        [ ! -e "$file" ] || end_process "$(cat "$file")"
    done
}

end_process() { # end_process PID: and wait until it is gone
    kill "$1"
    for _ in {1..60}; do
        is_running "$1" || return 0
        sleep 0.2
    done
    kill -KILL "$1"
}

is_running() { # a zombie is not
    case $(ps -o stat= -p "$1") in '' | Z*) return 1 ;; esac
}

case $#${1:-} in
2start | 2stop)
    mkdir -p "$2"
    dir=$(cd "$2" && pwd)
    export SLURM_CONF=$dir/slurm.conf
    "$1"
    ;;
*)
    echo "Usage: tests/slurm/cluster.sh start|stop DIR" >&2
    exit 2
    ;;
esac
