import { knownPrefix, type Pieces, UNKNOWN, wholeText } from "./text";

/**
 * Some commands run another command that is in their arguments, such as `env` and `find`. This file
 * finds that inner command. If the arguments are not understood completely, the inner command
 * counts as unknown.
 */

type RunnerOptions = {
  /** Options that take a value: letters of short options and names of long options. */
  withValue: string;
  /** Options that take no value. */
  withoutValue: string;
  /** Number of arguments between the options and the command. Default: 0. */
  argumentsBefore?: number;
  /** Matches words before the command that set a variable. Omitted: there are no such words. */
  assignment?: RegExp;
};

/** Commands that run the command after their options. */
const RUNNERS: Readonly<Record<string, RunnerOptions>> = {
  env: {
    withValue: "u C unset chdir",
    withoutValue: "i 0 ignore-environment null",
    assignment: /=/,
  },
  timeout: {
    withValue: "s k signal kill-after",
    withoutValue: "v foreground preserve-status verbose",
    argumentsBefore: 1,
  },
  nice: { withValue: "n adjustment", withoutValue: "" },
  ionice: { withValue: "c n class classdata", withoutValue: "t ignore" },
  nohup: { withValue: "", withoutValue: "" },
  setsid: { withValue: "", withoutValue: "c f w ctty fork wait" },
  stdbuf: { withValue: "i o e input output error", withoutValue: "" },
  time: { withValue: "f o format output", withoutValue: "p v a portability verbose append" },
  command: { withValue: "", withoutValue: "p" },
  builtin: { withValue: "", withoutValue: "" },
  exec: { withValue: "a", withoutValue: "c l" },
  sudo: {
    withValue: "u g h p C T R D r t U user group",
    withoutValue: "E H n S k K b B A P",
    assignment: /^(?!\/)[\s\S]*=/,
  },
  xargs: {
    // `-l`, `-i`, `-e` and their long names are missing: their values are optional, so the next
    // word may be a value or the command.
    withValue: "a d E I L n P s arg-file delimiter max-args max-procs max-chars",
    withoutValue: "0 r t x p null no-run-if-empty verbose exit interactive",
  },
};

/** Commands that run other commands in ways that are not analysed here. */
const UNANALYSED = new Set(
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
 * Commands that run other commands only with an argument that matches. An unknown argument is
 * tested as `-`.
 */
const RUNS_WITH_ARGUMENT: Readonly<Record<string, RegExp>> = {
  split: /^--f|^-$/,
  jobs: /^-\w*x|^-$/,
  mapfile: /^-\w*C|^-$/,
  readarray: /^-\w*C|^-$/,
};
/** The dynamic loader, which runs the program in its arguments. */
const DYNAMIC_LOADER = /^ld(-linux.*|-musl.*)?\.so/;

type InnerCommands =
  /** Runs no other command. */
  | { kind: "none" }
  | { kind: "commands"; commands: readonly (readonly Pieces[])[] }
  /** Runs an unknown command. */
  | { kind: "unknown" };

const NO_COMMAND: InnerCommands = { kind: "none" };
const UNKNOWN_COMMAND: InnerCommands = { kind: "unknown" };

/**
 * The commands that a command runs. `name` has no directory. Shells and `eval` are handled in
 * `commandsIn`.
 */
export function innerCommands(name: string, args: readonly Pieces[]): InnerCommands {
  if (UNANALYSED.has(name) || DYNAMIC_LOADER.test(name)) return UNKNOWN_COMMAND;
  if (
    Object.hasOwn(RUNS_WITH_ARGUMENT, name) &&
    args.some((arg) => RUNS_WITH_ARGUMENT[name]?.test(wholeText(arg) ?? "-") ?? true)
  )
    return UNKNOWN_COMMAND;
  if (name === "find") return findCommands(args);
  const options = Object.hasOwn(RUNNERS, name) ? RUNNERS[name] : undefined;
  if (!options) return NO_COMMAND;
  if (name === "command" && /^-[vV]+$/.test(wholeText(args[0] ?? []) ?? "")) return NO_COMMAND;
  const parsedArguments = afterOptions(args, options);
  if (parsedArguments === null) return UNKNOWN_COMMAND;
  const command =
    name === "xargs"
      ? xargsCommand(parsedArguments.rest, parsedArguments.values)
      : parsedArguments.rest;
  return command.length === 0 ? NO_COMMAND : { kind: "commands", commands: [command] };
}

/** The words after the options, and the values of the options by name. */
type AfterOptions = { rest: readonly Pieces[]; values: ReadonlyMap<string, Pieces> };

/** Reads the options; `null` if an argument is not known or is an unknown option. */
function afterOptions(
  args: readonly Pieces[],
  { withValue, withoutValue, argumentsBefore = 0, assignment }: RunnerOptions,
): AfterOptions | null {
  const takesValue = namesIn(withValue);
  const takesNoValue = namesIn(withoutValue);
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
    const [, name = "", attachedValue] = LONG.exec(arg) ?? SHORT.exec(arg) ?? [];
    if (takesValue.has(name))
      values.set(name, attachedValue === undefined ? (args[++at] ?? UNKNOWN) : [attachedValue]);
    else if (
      arg.startsWith("--")
        ? attachedValue !== undefined || !takesNoValue.has(name)
        : !containsAll(takesNoValue, arg)
    )
      return null;
  }
  if (assignment) while (at < args.length && assignment.test(knownPrefix(args[at] ?? []))) at++;
  const rest = args.slice(at + argumentsBefore);
  return args.slice(at, at + argumentsBefore).some((word) => word.includes(null))
    ? null
    : { rest, values };
}

const namesIn = (names: string): ReadonlySet<string> => new Set(names.split(" ").filter(Boolean));
const containsAll = (letters: ReadonlySet<string>, arg: string): boolean =>
  [...arg.slice(1)].every((letter) => letters.has(letter));
const LONG = /^--([\w-]{2,})(?:=([\s\S]*))?$/;
const SHORT = /^-(\w)([\s\S]+)?$/;
const firstPiece = (word: Pieces | undefined): string => word?.[0] ?? "";

/** The command that `xargs` runs: its input is added at the end, or replaces the value of `-I`. */
function xargsCommand(
  command: readonly Pieces[],
  values: ReadonlyMap<string, Pieces>,
): readonly Pieces[] {
  if (command.length === 0) return [];
  const placeholder = values.get("I");
  if (!placeholder) return [...command, UNKNOWN];
  return command.map((word) => replacePlaceholder(word, wholeText(placeholder) ?? ""));
}

/** A word in which an unknown text replaces each placeholder. */
function replacePlaceholder(word: Pieces, placeholder: string): Pieces {
  if (placeholder === "") return UNKNOWN;
  return word.flatMap((piece) =>
    piece === null
      ? [null]
      : piece.split(placeholder).flatMap((part, index) => (index > 0 ? [null, part] : [part])),
  );
}

const EXEC_ACTIONS = ["-exec", "-execdir", "-ok", "-okdir"];

/** The commands of all `-exec` actions of `find`. An unknown argument may be another `-exec`. */
function findCommands(args: readonly Pieces[]): InnerCommands {
  const commands: Pieces[][] = [];
  for (let at = 0; at < args.length; at++) {
    if (firstPiece(args[at]) === "") {
      if (args[at]?.includes(null)) return UNKNOWN_COMMAND;
      continue;
    }
    if (!EXEC_ACTIONS.includes(wholeText(args[at] ?? []) ?? "")) continue;
    const command: Pieces[] = [];
    for (at++; at < args.length && !endsCommand(args[at]); at++)
      command.push(replacePlaceholder(args[at] ?? UNKNOWN, "{}"));
    if (at >= args.length) return UNKNOWN_COMMAND;
    commands.push(command);
  }
  return commands.length === 0 ? NO_COMMAND : { kind: "commands", commands };
}

const endsCommand = (word: Pieces | undefined): boolean =>
  [";", "+"].includes(wholeText(word ?? []) ?? "");
