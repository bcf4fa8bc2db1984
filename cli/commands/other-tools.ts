/**
 * Commands of other programs (git, gh, npm, docker, ollama, coding agents, MassGen), grouped by the
 * command of this program that is nearest in meaning. `HELP` groups the words without a near
 * command.
 */
const HELP = "--help";
const SESSIONS = "sessions";
const SHOW = "show <session>";
const ATTACH = "attach <session>";
const CONTINUE = 'ask --session last "…"';
const BRANCH = 'branch <turn> "…"';
const CONTINUE_FROM = "continue-from <turn>";
const TURNS = "turns";
const FILES = "files <session>";
const CAT = "files cat <session> <file>";
const PULL = "pull --session <session>";
const PUSH = "push <directory>";
const TEAMS = "config list";

const WORDS: Readonly<Record<string, string>> = {
  [SESSIONS]:
    "list ls ll ps session history log logs recent threads conversations chats projects issues stats stat usage cost " +
    "search find tasks jobs metrics dashboard quota budget memory",
  [ATTACH]: "watch follow tail connect open join reconnect replay",
  [CONTINUE]: "resume continue restore reopen load",
  [BRANCH]: "fork rebase",
  [CONTINUE_FROM]: "rewind checkout undo redo switch",
  [TURNS]: "tree graph",
  [SHOW]:
    "share export view print inspect info status report result results transcript summary votes answers answer blame " +
    "events review compare",
  [FILES]: "download fetch get save artifacts outputs",
  [CAT]: "cat",
  [PULL]: "clone apply patch merge checkpoint",
  [PUSH]: "upload add commit import sync mount copy attachments context",
  [TEAMS]:
    "teams team agents agent models model providers presets templates examples samples quickstart",
  "config init": "init new create setup configure configuration settings set edit",
  "config validate": "validate check lint verify",
  login: "auth authenticate signin account whoami user token setup-token logon",
  logout: "signout logoff",
  "keys list": "credentials tokens",
  "cancel <session>": "stop kill abort interrupt pause quit exit down halt",
  "delete <session>": "remove rm prune clean clear reset erase purge rename tag stash",
  "eval list": "evals evaluate test tests bench benchmark",
  doctor: "diagnose health ping debug env",
  "--version": "version about",
  'ask "…"':
    "run exec execute prompt query chat talk question interactive repl shell start plan retry restart",
  [HELP]:
    "completion completions autocomplete man usage commands options plugin plugins mcp extension extensions hooks skills alias " +
    "docs api audit release pr issue",
};

/** Commands of other programs for tasks without a command here, and what to do instead. */
const SENTENCES: Readonly<Record<string, string>> = {
  serve: "The service starts with `npm start` in its folder.",
  server: "The service starts with `npm start` in its folder.",
  web: "The service starts with `npm start` in its folder.",
  dev: "The service starts with `npm start` in its folder.",
  up: "The service starts with `npm start` in its folder.",
  demo: "The demo starts with `npm run demo` in the service's folder; the team of that name is asked with `--config demo`.",
  deploy: "The service is deployed with `npm run deploy` in its folder.",
  publish: "The service is deployed with `npm run deploy` in its folder.",
  bridge: "The bridge to tool servers starts with `npm run bridge` in the service's folder.",
  install: "Nothing is left to install.",
  uninstall: "Delete the program's file to remove it.",
  build: "The program is built with `npm run build:cli` in the service's folder.",
  update: "Build the program again from newer sources: `npm run build:cli`.",
  upgrade: "Build the program again from newer sources: `npm run build:cli`.",
};

type OtherTool = { word: string; command: string; sentence: string | null };

/** The suggestion for each command of another program, by that command's word. */
export const OTHER_TOOLS: ReadonlyMap<string, OtherTool> = new Map(
  [
    ...Object.entries(WORDS).flatMap(([command, words]) =>
      words.split(" ").map((word): OtherTool => ({ word, command, sentence: null })),
    ),
    ...Object.entries(SENTENCES).map(
      ([word, sentence]): OtherTool => ({ word, command: "doctor", sentence }),
    ),
  ].map((tool) => [tool.word, tool]),
);
