//! Commands at random, of which each means the same in a session and in a script.

use crate::harness::Random;

/// So many commands, then one that shows what the shell holds.
pub(super) fn sequence(random: &mut Random) -> Vec<String> {
    let count = 3 + random.below(8);
    let mut steps: Vec<String> = (0..count).map(|_| command(random)).collect();
    steps.push(SHOW.to_owned());
    steps
}

/// Everything that stays, but for what differs between any two shells.
const SHOW: &str = r#"for v in $(compgen -v); do case $v in
_|BASH_*|BASHPID|BASHOPTS|SHELLOPTS|PPID|RANDOM|SRANDOM|SECONDS|EPOCH*|LINENO|HISTCMD|FUNCNAME|PIPESTATUS|SHLVL|v) ;;
*) declare -p "$v" ;; esac; done; declare -f; alias; shopt; set -o; umask; pwd; dirs; trap -p; ulimit -S -n; printf '<%s>' "$#" "$@""#;

fn pick<'a>(random: &mut Random, of: &[&'a str]) -> &'a str {
    of[random.below(of.len())]
}

fn name(random: &mut Random) -> &'static str {
    pick(random, &["a", "b", "c", "x1", "_y"])
}

fn word(random: &mut Random) -> &'static str {
    let words = [
        "1",
        "7",
        "abc",
        "'a b'",
        "\"it's\"",
        "$'t\\tn\\n'",
        "''",
        "x*",
        "'*'",
        "[a-c]",
        "~",
        "a:b",
        "{p,q}r",
        "\\$a",
        "-n",
        "é",
    ];
    pick(random, &words)
}

fn value(random: &mut Random) -> String {
    let n = name(random);
    match random.below(14) {
        0 => format!("${n}"),
        1 => format!("\"${n}\""),
        2 => format!("\"${{{n}:-{}}}\"", word(random)),
        3 => format!("${{{n}#a}}"),
        4 => format!("\"${{{n}//a/<&>}}\""),
        5 => format!("${{#{n}}}"),
        6 => format!("\"${{{n}^^}}\""),
        7 => format!("\"${{{n}:1:2}}\""),
        8 => format!("$(({}))", arithmetic(random)),
        9 => format!("\"$(echo {})\"", word(random)),
        10 => "\"${arr[@]}\"".to_owned(),
        11 => "\"${map[k]}\"".to_owned(),
        _ => word(random).to_owned(),
    }
}

fn arithmetic(random: &mut Random) -> String {
    let operator = pick(random, &["+", "-", "*", "%7+", "<<", "==", "&&", ","]);
    format!("{} {operator} {}", random.below(90), 1 + random.below(9))
}

fn command(random: &mut Random) -> String {
    match random.below(5) {
        0 => assignment(random),
        1 => compound(random),
        2 => redirection(random),
        3 => state(random),
        _ => simple(random),
    }
}

fn assignment(random: &mut Random) -> String {
    let (n, v) = (name(random), value(random));
    match random.below(14) {
        0 => format!("{n}+={v}"),
        1 => format!("arr=({v} {} [5]=five)", value(random)),
        2 => format!("arr+=({v}); arr[{}]={v}; unset 'arr[0]'", random.below(4)),
        3 => format!("declare -A map; map[k]={v}; map['k 2']={}", word(random)),
        4 => format!("declare -i num={}; num+=5", random.below(50)),
        5 => format!("export {n}={v}"),
        6 => format!("unset {n}"),
        7 => format!("read -r {n} _y <<< {v}"),
        8 => format!("printf -v {n} '%s|' {v} {}", word(random)),
        9 => format!("declare -u up={v}; declare -l low={v}"),
        10 => format!("{n}={v} bash -c 'echo \"[${n}]\"'"),
        11 => "mapfile -t arr < <(printf 'l 1\\nl 2\\n')".to_owned(),
        12 => format!("IFS={} read -ra arr <<< 'p:q r'", pick(random, &[":", "' '", "q"])),
        _ => format!("{n}={v}"),
    }
}

fn simple(random: &mut Random) -> String {
    let (v, w) = (value(random), value(random));
    match random.below(16) {
        0 => format!("printf '%s\\n' {v} {w}"),
        1 => format!("echo {v} {w}; echo {w} >&2"),
        2 => "false".to_owned(),
        3 => format!("(exit {})", random.below(256)),
        4 => "echo $?".to_owned(),
        5 => "no-such-command here".to_owned(),
        6 => format!("cat nowhere.txt; echo {v}"),
        7 => "greet one two".to_owned(),
        8 => "hi there".to_owned(),
        9 => format!("set -- {v} {w}"),
        10 => "echo \"$# $1\"; shift".to_owned(),
        11 => format!("eval 'echo {}; {}=evaled'", pick(random, &["1", "$a", "\"$b\""]), name(random)),
        12 => format!("[ {v} = {w} ] 2>/dev/null"),
        13 => "[ -n \"$(trap -p USR1)\" ] && kill -USR1 $$; echo after".to_owned(),
        14 => "echo $((1/0))".to_owned(),
        _ => format!("printf %s {v}"),
    }
}

fn compound(random: &mut Random) -> String {
    let (v, n) = (value(random), name(random));
    match random.below(16) {
        0 => format!("for i in {v} 1 2; do echo \"$i\"; {n}=$i; done"),
        1 => format!("case {v} in a*) echo A;; [0-9]*) echo D;& *) echo other;; esac"),
        2 => format!("[[ x{v} == *a* ]] && echo match || echo no"),
        3 => format!("[[ x{v} =~ ([a-c]+) ]]; echo \"$? ${{BASH_REMATCH[1]}}\""),
        4 => format!("if (( {} > 40 )); then {n}=big; else {n}=small; fi", arithmetic(random)),
        5 => format!("i=0; while (( i++ < 3 )); do {n}+=$i; done; until (( --i < 1 )); do :; done"),
        6 => format!("( {n}=sub; cd /; echo ${n}; exit 3 ); echo \"$? ${n}\""),
        7 => format!("echo {v} | tr a-z A-Z | cat -; echo ${{PIPESTATUS[@]}}"),
        8 => format!("{{ echo one; echo {v}; }} | sort | head -1"),
        9 => format!("( sleep 0.001; exit 4 ) & wait $!; echo $?; {n}=$?"),
        10 => format!("greet() {{ local {n}=inner; echo \"greet $# ${n}\"; return 3; }}"),
        11 => format!("rec() {{ (( $1 )) && rec $(( $1 - 1 )); echo -n $1; }}; rec 3; {n}=$(rec 2)"),
        12 => format!("false | true; {n}=${{PIPESTATUS[0]}}; ! true; echo $?"),
        13 => format!("echo $(echo {v} >&2; echo sub; false) $?"),
        14 => "cat <(echo p1) <(echo p2)".to_owned(),
        _ => format!("true && {n}=and || {n}=or"),
    }
}

fn redirection(random: &mut Random) -> String {
    let v = value(random);
    match random.below(12) {
        0 => format!("echo {v} >$T/f1; cat $T/f1"),
        1 => format!("echo {v} >>$T/f2; wc -l <$T/f2"),
        2 => format!("cat <<END\n$a {v}\nEND"),
        3 => "cat <<'END' | rev\n$a raw\nEND".to_owned(),
        4 => "cat <<-END\n\t\ttabs\n\tEND".to_owned(),
        5 => format!("cat <<< {v}"),
        6 => format!("{{ echo out; echo err >&2; }} 2>&1 | cat; echo {v} 2>/dev/null"),
        7 => "exec 5>$T/f5; echo five >&5; exec 5>&-; cat $T/f5".to_owned(),
        8 => "exec 6<$T/f1".to_owned(),
        9 => format!("read -r {} <&6; echo $?", name(random)),
        10 => "while read -r l; do echo \"<$l>\"; done < <(printf 'x\\ny')".to_owned(),
        _ => {
            format!(". /dev/stdin <<< {}", pick(random, &["'b=sourced'", "'greet() { echo sourced; }'", "'return 4'"]))
        }
    }
}

fn state(random: &mut Random) -> String {
    match random.below(16) {
        0 => "cd d".to_owned(),
        1 => "cd ..".to_owned(),
        2 => "cd - >/dev/null; pwd".to_owned(),
        3 => "pushd /tmp".to_owned(),
        4 => "popd".to_owned(),
        5 => "cd /nowhere; pwd".to_owned(),
        6 => format!("alias hi='echo hi {}'", pick(random, &["1", "2", "$a"])),
        7 => "unalias hi".to_owned(),
        8 => format!(
            "set {}o {}",
            pick(random, &["-", "+"]),
            pick(random, &["pipefail", "noglob", "noclobber", "allexport", "errtrace"])
        ),
        9 => format!(
            "shopt -{} {}",
            pick(random, &["s", "u"]),
            pick(random, &["nullglob", "extglob", "lastpipe", "nocasematch", "dotglob"])
        ),
        10 => format!("umask {}", pick(random, &["022", "077", "u=rwx,go="])),
        11 => format!("trap {} USR1", pick(random, &["'echo usr1'", "'a=trapped'", "':'"])),
        12 => "ulimit -S -n 200".to_owned(),
        13 => "unset -f greet; type greet".to_owned(),
        14 => format!("readonly ro{}=1", random.below(3)),
        _ => format!("ro{}=2; echo unreached", random.below(3)),
    }
}
