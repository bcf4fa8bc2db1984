import type { CustomCommand, defineCommand } from "just-bash/browser";

export const SHELL_DESCRIPTION =
  "Runs a command line in a small bash over your files: /workspace (where it starts), read-only /peers, and /contexts, which is read-only unless you are told that you may change it now. Pipes, loops, functions and the usual text tools are there (grep, sed, awk, jq, sort, diff, find, xargs, gzip, sha256sum). No network, python, node, tar, git, compilers or package managers. Files in /tmp, variables and the current directory last for one call. cp knows only -r, -n, -p and -v, diff no -r, sed -i keeps no backup; write xargs -n 1 and -I {} with the space. Text tools are for text: binary files survive cp, mv, cat, base64 and gzip only.";

/** Commands that models expect but this shell does not have, with an alternative for each. */
const LACKING_COMMANDS: Record<string, string> = {
  python: "Use awk, jq or bash.",
  python3: "Use awk, jq or bash.",
  pip: "Nothing can be installed.",
  pip3: "Nothing can be installed.",
  node: "JavaScript cannot be run.",
  npm: "Nothing can be installed.",
  npx: "Nothing can be installed.",
  apt: "Nothing can be installed.",
  "apt-get": "Nothing can be installed.",
  git: "Compare with diff or compare_directories; answers keep a snapshot of your files by themselves.",
  curl: "There is no network.",
  wget: "There is no network.",
  ssh: "There is no network.",
  ping: "There is no network.",
  tar: "Copy directories with cp -r; gzip packs single files.",
  zip: "Copy directories with cp -r; gzip packs single files.",
  unzip: "Archives cannot be unpacked; gunzip unpacks single .gz files.",
  make: "Run the commands themselves.",
  gcc: "Nothing can be compiled.",
  perl: "Use awk, sed or bash.",
  ruby: "Use awk, jq or bash.",
  sqlite3: "Use awk or jq.",
  xan: "Use awk.",
  yq: "Use awk, sed or jq.",
  realpath: "Use readlink -f.",
  mktemp: "Name a file in /tmp yourself: nobody else sees it.",
  cmp: "Use diff -q; compare sha256sum of binary files.",
  truncate: "Empty a file with : > FILE; head -c N keeps its beginning.",
  install: "Use mkdir -p, cp and chmod.",
  rsync: "Use cp -r.",
  dd: "Use head -c and tail -c.",
  patch: "Use sed, or the tool edit_file.",
  less: "Use cat, head or sed -n.",
  more: "Use cat, head or sed -n.",
  bc: "Use $(( )), or awk for fractions.",
  xxd: "Use od.",
  hexdump: "Use od.",
  trap: "Clean up at the end of the script.",
  yes: "Commands of a pipe run one after the other, so an endless one has no end.",
};

/**
 * Defines the missing commands. Each of them only prints that it is not available, with an
 * alternative, and exits with 127 like an unknown command.
 */
export function lackingCommands(define: typeof defineCommand): CustomCommand[] {
  return Object.entries(LACKING_COMMANDS).map(([name, alternative]) =>
    define(name, async () => ({
      stdout: "",
      stderr: `bash: ${name}: not available in this shell. ${alternative}\n`,
      exitCode: 127,
    })),
  );
}
