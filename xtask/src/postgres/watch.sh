# Runs a private PostgreSQL, and a PgBouncer before it, until standard input ends: then the task that
# started this has ended too, however it ended. Says "ready" once both answer, and leaves nothing behind.
#
# Arguments: a folder to fill and to delete, the folder of PostgreSQL's programs, pgbouncer.

folder=$1 programs=$2 pgbouncer=$3
data=$folder/data log=$folder/log server= pooler=

# Whoever reaches the sockets is superuser without a password: only we and root may enter the folder.
chmod 700 "$folder"

start_server() {
    "$programs/initdb" --pgdata="$data" --username=postgres --auth=trust \
        --encoding=UTF8 --locale=C --no-sync || return
    # Whatever is lost in a power failure was going to be deleted: nothing needs to reach the disk.
    cat >>"$data/postgresql.conf" <<END
listen_addresses = ''
unix_socket_directories = '$folder'
port = 5432
max_connections = 200
timezone = 'UTC'
fsync = off
full_page_writes = off
END
    "$programs/postgres" -D "$data" &
    server=$!
    wait_until_ready "$server" "$folder"
}

# Every role of the server may come in. Few connections for many clients, so that clients really share
# them; connections that nobody uses are given back to the server soon.
start_pooler() {
    mkdir "$folder/pooler" || return
    echo '"postgres" ""' >"$folder/users"
    cat >"$folder/pgbouncer.ini" <<END
[databases]
* = host=$folder port=5432
[pgbouncer]
pool_mode = transaction
listen_addr =
listen_port = 5432
unix_socket_dir = $folder/pooler
auth_type = trust
auth_user = postgres
auth_file = $folder/users
stats_users = postgres
max_client_conn = 400
default_pool_size = 4
server_idle_timeout = 5
END
    # From 1.21 on it can carry prepared statements between sessions, and would hide a client that prepares some.
    version=$("$pgbouncer" --version | sed -n 's/^PgBouncer 1\.\([0-9]*\).*/\1/p')
    if [ "${version:-0}" -ge 21 ]; then
        echo 'max_prepared_statements = 0' >>"$folder/pgbouncer.ini"
    fi
    "$pgbouncer" --quiet "$folder/pgbouncer.ini" &
    pooler=$!
    wait_until_ready "$pooler" "$folder/pooler"
}

# For a minute at most, and no longer than the process lives.
wait_until_ready() {
    tries=0
    until "$programs/pg_isready" --quiet --host="$2" --port=5432 --username=postgres; do
        tries=$((tries + 1))
        if [ "$tries" -gt 600 ] || ! kill -0 "$1"; then
            return 1
        fi
        sleep 0.1
    done
}

# At once, whatever the clients are doing.
stop() {
    [ -z "$pooler" ] || kill -KILL "$pooler"
    [ -z "$server" ] || kill -QUIT "$server"
    wait
}

if { start_server && start_pooler; } >"$log" 2>&1; then
    echo ready
    cat >/dev/null
else
    cat "$log" >&2
fi
stop >/dev/null 2>&1
cd / && rm -rf "$folder"
