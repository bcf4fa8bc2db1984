import ignore, { type Ignore } from "ignore";
import type { Io } from "../io";
import { toLine } from "../terminal/sanitize";

/** Why a file stays where it is. */
export type Reason =
  | "may hold secrets"
  | "not sources"
  | "ignored by git"
  | "says where packages come from"
  | "a link"
  | "no plain file"
  | "too large"
  | "a name that other systems do not take";
/** A file, or a folder with a final `/` and all in it. */
export type LeftOut = { path: string; reason: Reason };

/**
 * Never sent, with any pattern: these files could run programs here when they are pulled, or are
 * our own.
 */
export const NEVER = [".git", ".massgen-edge"];

/** gitignore-style patterns of what may hold keys or passwords. */
const SECRETS = [
  "*.env",
  "*.env~",
  ".env[-._]*",
  "!.env[-._]example",
  "!.env[-._]sample",
  "!.env[-._]template",
  "!example.env",
  "!sample.env",
  "!template.env",
  ".envrc",
  ".dev.vars",
  ".dev.vars.*",
  "!.dev.vars.example",
  "*.pem",
  "*.key",
  "*.p8",
  "*.p12",
  "*.pfx",
  "*.jks",
  "*.keystore",
  "*.kdbx",
  "*.ppk",
  "*.tfstate",
  "*.tfstate.*",
  "*.tfvars",
  "*.tfvars.json",
  "id_rsa*",
  "id_dsa*",
  "id_ecdsa*",
  "id_ed25519*",
  "!*.pub",
  ".ssh/",
  ".gnupg/",
  ".aws/",
  ".azure/",
  ".kube/",
  ".docker/",
  "**/.config/gcloud/",
  "**/.cargo/credentials",
  "**/.gem/credentials",
  ".netrc",
  "_netrc",
  ".pgpass",
  ".s3cfg",
  ".pypirc",
  ".htpasswd",
  ".git-credentials",
  ".vault-token",
  "credentials.json",
  "credentials.toml",
  "secrets.yml",
  "secrets.yaml",
  "secrets.toml",
  "secrets.json",
  "service-account*.json",
  "*.agekey",
];

/** What tools made, or keep for themselves, where no .gitignore says so. */
const NOT_SOURCES = [
  ".hg/",
  ".svn/",
  ".jj/",
  "node_modules/",
  "bower_components/",
  ".venv/",
  "venv/",
  "__pycache__/",
  "*.pyc",
  ".tox/",
  ".mypy_cache/",
  ".pytest_cache/",
  ".wrangler/",
  ".next/",
  ".terraform/",
  ".gradle/",
  ".DS_Store",
  "Thumbs.db",
];

const secrets = ignore().add(SECRETS);
const notSources = ignore().add(NOT_SOURCES);

/** Whether a file may hold keys or passwords, by its path. */
export const mayHoldSecrets = (path: string): boolean =>
  secrets.ignores(path) || path.split("/").some((name) => NEVER.includes(name.toLowerCase()));

/** Why a path is on the list of what is left out; null if it is not. Directories end in `/`. */
function deniedAs(path: string): Reason | null {
  if (secrets.ignores(path)) return "may hold secrets";
  return notSources.ignores(path) ? "not sources" : null;
}

/** Files that say where programs are fetched from, and may hold the key for it. */
const PACKAGE_SETTINGS =
  /(^|\/)(\.npmrc|\.yarnrc|\.yarnrc\.yml|pip\.conf|bunfig\.toml|\.cargo\/config(\.toml)?|\.pnpmfile\.c?js|nuget\.config|uv\.toml|\.bundle\/config)$/i;
/** In an address, the part before the `@` may be a key without a name. */
const TOKEN =
  /_authToken|_auth\s*=|_password|npmAuth(Token|Ident)|:\/\/[^\s/:@]+:[^\s@]+@|https?:\/\/[^\s/@]+@/;

/** Whether a file, come from elsewhere, would say where programs are fetched from here. */
export const choosesPackages = (path: string): boolean => PACKAGE_SETTINGS.test(path);

/**
 * gitignore-style patterns of files that tools read or run when a folder is opened, installed,
 * cloned into or committed to. `package.json` is not included: most pulls of a JavaScript project
 * change it, and users ignore a warning that always appears.
 */
const RUN_UNASKED = [
  "**/.claude/settings.json",
  "**/.claude/settings.local.json",
  ".mcp.json",
  "**/.cursor/mcp.json",
  "**/.vscode/tasks.json",
  "**/.vscode/settings.json",
  "**/.vscode/launch.json",
  "**/.vscode/mcp.json",
  "**/.husky/**",
  ".githooks/",
  "**/.git*/hooks/**",
  "**/.github/workflows/**",
  ".gitmodules",
  ".pre-commit-config.yaml",
  ".devcontainer/",
  ".devcontainer.json",
  ".envrc",
  "mise.toml",
  ".mise.toml",
  "sitecustomize.py",
  "usercustomize.py",
];
const runUnasked = ignore().add(RUN_UNASKED);

/** Whether programs here read or run a file automatically. */
export const isRunUnasked = (path: string): boolean =>
  choosesPackages(path) || runUnasked.ignores(path);

/** Whether a file that is usually harmless holds a key. */
export const holdsToken = (path: string, bytes: Uint8Array): boolean =>
  PACKAGE_SETTINGS.test(path) &&
  TOKEN.test(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1"));

/**
 * Rules of one file, such as a `.gitignore`, which hold for what is below a directory. `base`: that
 * directory, "" or with a final `/`; if it is above the scanned directory, `prefix` leads from the
 * one to the other.
 */
export type IgnoreFile = { base: string; prefix: string; rules: Ignore };

/** Whether git would leave a path out: the last file that says something about it decides. */
function isIgnored(path: string, files: readonly IgnoreFile[]): boolean {
  let ignored = false;
  for (const { base, prefix, rules } of files) {
    if (!path.startsWith(base) || path === base) continue;
    const said = rules.test(prefix + path.slice(base.length));
    if (said.ignored) ignored = true;
    else if (said.unignored) ignored = false;
  }
  return ignored;
}

/** What `--include` asks for although it would be left out. */
export class Includes {
  readonly #rules: Ignore;
  readonly #rulesOfFiles: Ignore;
  readonly #patterns: readonly string[];

  constructor(patterns: readonly string[]) {
    this.#patterns = patterns.map((pattern) => pattern.replace(/^\.?\/+/, ""));
    this.#rules = ignore().add(patterns);
    // the last one takes all folders out again
    this.#rulesOfFiles = ignore().add([...patterns, "!*/"]);
  }

  /** Whether a path is asked for, by itself or by a folder above it. */
  has(path: string): boolean {
    return this.#patterns.length > 0 && this.#rules.ignores(path);
  }

  /**
   * Whether a pattern matches a file itself. A pattern for a folder does not include the keys in
   * it.
   */
  hasItself(file: string): boolean {
    return this.#rulesOfFiles.ignores(file);
  }

  /**
   * Whether a directory that is left out may hold something that is asked for by its whole path.
   */
  reachInto(directory: string): boolean {
    return this.#patterns.some((pattern) => pattern.startsWith(directory));
  }
}

/**
 * Why a path is left out; `null` if it is not. Directories end in `/`; their contents are checked
 * separately.
 */
export function leftOutAs(
  path: string,
  rules: readonly IgnoreFile[],
  includes: Includes,
): Reason | null {
  const denied = deniedAs(path);
  const isAskedFor =
    denied === "may hold secrets" && !path.endsWith("/")
      ? includes.hasItself(path)
      : includes.has(path);
  if (isAskedFor) return null;
  return denied ?? (isIgnored(path, rules) ? "ignored by git" : null);
}

const MOST_NAMES = 20;

/** Says what stays where it is: a line for each reason, with the first names of each. */
export function printLeftOut(leftOut: readonly LeftOut[], { stderr }: Pick<Io, "stderr">): void {
  for (const reason of new Set(leftOut.map((entry) => entry.reason))) {
    const paths = [
      ...new Set(leftOut.filter((entry) => entry.reason === reason).map((entry) => entry.path)),
    ];
    stderr.write(`left out, ${reason}: ${firstOf(paths)}\n`);
  }
}

/** The same for a pull, with the option that includes them. */
export function printStaying(leftOut: readonly LeftOut[], world: Pick<Io, "stderr">): void {
  printLeftOut(leftOut, world);
  if (leftOut.length > 0) world.stderr.write("To take such files, add --include <pattern>.\n");
}

/**
 * Warns of what comes into a folder and acts there although its user starts nothing: one line, or
 * none.
 */
export function warnRunUnasked(paths: readonly string[], { stderr }: Pick<Io, "stderr">): void {
  const named = paths.filter(isRunUnasked);
  if (named.length > 0)
    stderr.write(
      `warning: programs read or run these files automatically; check them first: ${firstOf(named)}\n`,
    );
}

function firstOf(paths: readonly string[]): string {
  const more = paths.length > MOST_NAMES ? `, and ${paths.length - MOST_NAMES} more` : "";
  return `${paths.slice(0, MOST_NAMES).map(toLine).join(", ")}${more}`;
}
