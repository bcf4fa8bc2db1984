import { knownBeginning, type Pieces, UNKNOWN, wholeText } from "./text";

/**
 * Commands that run another command from their arguments, and where to find it. If the arguments
 * are not understood completely, the inner command counts as unknown.
 */

type Options = {
  /** Short letters and long names of options that take a value, and of those that do not. */
  valued: string;
  plain: string;
  /** Number of arguments before the command. */
  before?: number;
  /** Matches words before the command that set a variable, for any name. */
  assigns?: RegExp;
};

const RUNNERS: Readonly<Record<string, Options>> = {
  env: { valued: "u C unset chdir", plain: "i 0 ignore-environment null", assigns: /=/ },
  timeout: {
    valued: "s k signal kill-after",
    plain: "v foreground preserve-status verbose",
    before: 1,
  },
  nice: { valued: "n adjustment", plain: "" },
  ionice: { valued: "c n class classdata", plain: "t ignore" },
  nohup: { valued: "", plain: "" },
  setsid: { valued: "", plain: "c f w ctty fork wait" },
  stdbuf: { valued: "i o e input output error", plain: "" },
  time: { valued: "f o format output", plain: "p v a portability verbose append" },
  command: { valued: "", plain: "p" },
  builtin: { valued: "", plain: "" },
  exec: { valued: "a", plain: "c l" },
  sudo: {
    valued: "u g h p C T R D r t U user group",
    plain: "E H n S k K b B A P",
    assigns: /^(?!\/)[\s\S]*=/,
  },
  xargs: {
    // Without `-l`, `-i`, `-e` and their long names: their values are optional, so the next word
    // may be the command.
    valued: "a d E I L n P s arg-file delimiter max-args max-procs max-chars",
    plain: "0 r t x p null no-run-if-empty verbose exit interactive",
  },
};

/** Commands that run others in ways not analysed here. */
const NOT_TAKEN_APART = new Set(
  `parallel watch script strace ltrace gdb flock unshare nsenter setpriv busybox toybox su runuser doas at batch chroot
   systemd-run start-stop-daemon proot fakeroot chrt taskset numactl firejail bwrap run-parts expect unbuffer entr rbash
   prlimit choom setarch linux32 linux64 i386 x86_64 uname26 sg newgrp capsh pkexec runcon uclampset coresched pipesz
   gosu su-exec tini dumb-init chpst envdir setuidgid softlimit cgexec aa-exec eatmydata faketime valgrind perf rlwrap
   screen tmux openvt daemonize ssh-agent dbus-run-session xvfb-run systemd-inhibit torsocks proxychains proxychains4
   chronic ifne pee mispipe run-one logsave hyperfine catchsegv
   csh tcsh fish pwsh coproc alias enable hash bind complete compgen compopt fc`
    .trim()
    .split(/\s+/),
);
/**
 * Commands that run others only with one of these arguments; `-` represents an unknown argument.
 */
const MAY_RUN: Readonly<Record<string, RegExp>> = {
  split: /^--f|^-$/,
  jobs: /^-\w*x|^-$/,
  mapfile: /^-\w*C|^-$/,
  readarray: /^-\w*C|^-$/,
};
const LOADER = /^ld(-linux.*|-musl.*)?\.so/;

type Inner =
  /** Runs no other command. */
  | { kind: "none" }
  | { kind: "commands"; commands: readonly (readonly Pieces[])[] }
  /** Runs an unknown command. */
  | { kind: "unknown" };

const NONE: Inner = { kind: "none" };
const NOT_KNOWN: Inner = { kind: "unknown" };

/**
 * The commands that a command runs. `name` has no directory. Shells and `eval` are handled
 * elsewhere.
 */
export function innerCommands(name: string, args: readonly Pieces[]): Inner {
  if (NOT_TAKEN_APART.has(name) || LOADER.test(name)) return NOT_KNOWN;
  if (
    Object.hasOwn(MAY_RUN, name) &&
    args.some((arg) => MAY_RUN[name]?.test(wholeText(arg) ?? "-") ?? true)
  )
    return NOT_KNOWN;
  if (name === "find") return foundBy(args);
  const options = Object.hasOwn(RUNNERS, name) ? RUNNERS[name] : undefined;
  if (!options) return NONE;
  if (name === "command" && /^-[vV]+$/.test(wholeText(args[0] ?? []) ?? "")) return NONE;
  const inner = afterOptions(args, options);
  if (inner === null) return NOT_KNOWN;
  const command = name === "xargs" ? withInput(inner.rest, inner.values) : inner.rest;
  return command.length === 0 ? NONE : { kind: "commands", commands: [command] };
}

type AfterOptions = { rest: readonly Pieces[]; values: ReadonlyMap<string, Pieces> };

/** `null` if an argument is unknown, or an unknown option. */
function afterOptions(
  args: readonly Pieces[],
  { valued, plain, before = 0, assigns }: Options,
): AfterOptions | null {
  const takesValue = namesIn(valued);
  const takesNone = namesIn(plain);
  const values = new Map<string, Pieces>();
  let at = 0;
  for (; at < args.length; at++) {
    const arg = wholeText(args[at] ?? []);
    if (arg === null || arg === "-") return null;
    if (arg === "--") {
      at++;
      break;
    }
    if (!/^-./.test(arg)) break;
    const [, name = "", attached] = LONG.exec(arg) ?? SHORT.exec(arg) ?? [];
    if (takesValue.has(name))
      values.set(name, attached === undefined ? (args[++at] ?? UNKNOWN) : [attached]);
    else if (
      arg.startsWith("--")
        ? attached !== undefined || !takesNone.has(name)
        : !areAll(takesNone, arg)
    )
      return null;
  }
  if (assigns) while (at < args.length && assigns.test(knownBeginning(args[at] ?? []))) at++;
  const rest = args.slice(at + before);
  return args.slice(at, at + before).some((word) => word.includes(null)) ? null : { rest, values };
}

const namesIn = (names: string): ReadonlySet<string> => new Set(names.split(" ").filter(Boolean));
const areAll = (letters: ReadonlySet<string>, arg: string): boolean =>
  [...arg.slice(1)].every((letter) => letters.has(letter));
const LONG = /^--([\w-]{2,})(?:=([\s\S]*))?$/;
const SHORT = /^-(\w)([\s\S]+)?$/;
const beginOf = (word: Pieces | undefined): string => word?.[0] ?? "";

/** The command that xargs builds: with its input appended, or in place of a text. */
function withInput(
  command: readonly Pieces[],
  values: ReadonlyMap<string, Pieces>,
): readonly Pieces[] {
  if (command.length === 0) return [];
  const replaced = values.get("I");
  if (!replaced) return [...command, UNKNOWN];
  return command.map((word) => withHoles(word, wholeText(replaced) ?? ""));
}

/** A word in which unknown text replaces a placeholder. */
function withHoles(word: Pieces, replaced: string): Pieces {
  if (replaced === "") return UNKNOWN;
  return word.flatMap((piece) =>
    piece === null
      ? [null]
      : piece.split(replaced).flatMap((part, nth) => (nth > 0 ? [null, part] : [part])),
  );
}

const EXEC = ["-exec", "-execdir", "-ok", "-okdir"];

/** The commands of all `-exec` actions; an unknown argument may be another one. */
function foundBy(args: readonly Pieces[]): Inner {
  const commands: Pieces[][] = [];
  for (let at = 0; at < args.length; at++) {
    if (beginOf(args[at]) === "") {
      if (args[at]?.includes(null)) return NOT_KNOWN;
      continue;
    }
    if (!EXEC.includes(wholeText(args[at] ?? []) ?? "")) continue;
    const command: Pieces[] = [];
    for (at++; at < args.length && !isEnd(args[at]); at++)
      command.push(withHoles(args[at] ?? UNKNOWN, "{}"));
    if (at >= args.length) return NOT_KNOWN;
    commands.push(command);
  }
  return commands.length === 0 ? NONE : { kind: "commands", commands };
}

const isEnd = (word: Pieces | undefined): boolean =>
  [";", "+"].includes(wholeText(word ?? []) ?? "");
