import ignore, { type Ignore } from "ignore";
import type { Io } from "../io";
import { toLine } from "../terminal/sanitize";

/** Why a file is neither pushed nor pulled. */
export type Reason =
  | "may hold secrets"
  | "not sources"
  | "ignored by git"
  | "says where packages come from"
  | "a link"
  | "no plain file"
  | "too large"
  | "a name that other systems do not take";
/** An excluded file, or an excluded folder with its contents. A folder ends in `/`. */
export type Exclusion = { path: string; reason: Reason };

/**
 * Never pushed, even if a pattern includes them: a pulled `.git` could run programs on this
 * machine, and `.massgen-edge` belongs to this program.
 */
export const NEVER_SENT = [".git", ".massgen-edge"];

/** Files that may contain keys or passwords, as gitignore patterns. */
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

/** Generated files and private files of tools, as gitignore patterns. */
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

/** Whether a file may contain keys or passwords, judged by its path. */
export const mayHoldSecrets = (path: string): boolean =>
  secrets.ignores(path) || path.split("/").some((name) => NEVER_SENT.includes(name.toLowerCase()));

/** Why the lists above exclude a path; `null` if they do not. Directories end in `/`. */
function listedReason(path: string): Reason | null {
  if (secrets.ignores(path)) return "may hold secrets";
  return notSources.ignores(path) ? "not sources" : null;
}

/** Settings of package managers: they choose the package source and may contain its key. */
const PACKAGE_SETTINGS =
  /(^|\/)(\.npmrc|\.yarnrc|\.yarnrc\.yml|pip\.conf|bunfig\.toml|\.cargo\/config(\.toml)?|\.pnpmfile\.c?js|nuget\.config|uv\.toml|\.bundle\/config)$/i;
/** In a URL, the part before the `@` may be a key without a user name. */
const TOKEN =
  /_authToken|_auth\s*=|_password|npmAuth(Token|Ident)|:\/\/[^\s/:@]+:[^\s@]+@|https?:\/\/[^\s/@]+@/;

/** Whether a pulled file would choose where packages are installed from. */
export const choosesPackages = (path: string): boolean => PACKAGE_SETTINGS.test(path);

/**
 * gitignore-style patterns of files that tools read or run when a folder is opened, installed,
 * cloned into or committed to. `package.json` is not included: most pulls of a JavaScript project
 * change it, and users ignore a warning that always appears.
 */
const RUN_AUTOMATICALLY = [
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
const runAutomatically = ignore().add(RUN_AUTOMATICALLY);

/** Whether programs on this machine read or run a file automatically. */
export const isRunAutomatically = (path: string): boolean =>
  choosesPackages(path) || runAutomatically.ignores(path);

/** Whether the contents of a settings file contain a key. */
export const holdsToken = (path: string, bytes: Uint8Array): boolean =>
  PACKAGE_SETTINGS.test(path) &&
  TOKEN.test(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1"));

/**
 * The rules of one ignore file. They apply below `base`, which is "" or ends in `/`. If the file is
 * above the scanned directory, `prefix` is the path from the file's folder to that directory.
 */
export type IgnoreFile = { base: string; prefix: string; rules: Ignore };

/** Whether git ignores a path. The last file with a matching rule decides. */
function isIgnored(path: string, files: readonly IgnoreFile[]): boolean {
  let ignored = false;
  for (const { base, prefix, rules } of files) {
    if (!path.startsWith(base) || path === base) continue;
    const match = rules.test(prefix + path.slice(base.length));
    if (match.ignored) ignored = true;
    else if (match.unignored) ignored = false;
  }
  return ignored;
}

/** The patterns of `--include`. They override exclusions. */
export class Includes {
  readonly #rules: Ignore;
  readonly #rulesOfFiles: Ignore;
  readonly #patterns: readonly string[];

  constructor(patterns: readonly string[]) {
    this.#patterns = patterns.map((pattern) => pattern.replace(/^\.?\/+/, ""));
    this.#rules = ignore().add(patterns);
    // the last pattern removes all folders
    this.#rulesOfFiles = ignore().add([...patterns, "!*/"]);
  }

  /** Whether a pattern includes a path, directly or through one of its folders. */
  has(path: string): boolean {
    return this.#patterns.length > 0 && this.#rules.ignores(path);
  }

  /**
   * Whether a pattern matches the file directly. Files that may contain secrets need this: a
   * pattern for their folder does not include them.
   */
  hasItself(file: string): boolean {
    return this.#rulesOfFiles.ignores(file);
  }

  /** Whether a pattern names a path inside this excluded directory. */
  reachInto(directory: string): boolean {
    return this.#patterns.some((pattern) => pattern.startsWith(directory));
  }
}

/**
 * Why a path is excluded; `null` if it is not. Directories end in `/`. The contents of a directory
 * need their own check.
 */
export function exclusionReason(
  path: string,
  rules: readonly IgnoreFile[],
  includes: Includes,
): Reason | null {
  const denied = listedReason(path);
  const isAskedFor =
    denied === "may hold secrets" && !path.endsWith("/")
      ? includes.hasItself(path)
      : includes.has(path);
  if (isAskedFor) return null;
  return denied ?? (isIgnored(path, rules) ? "ignored by git" : null);
}

const MOST_NAMES = 20;

/** Prints the excluded paths: one line per reason, with the first names. */
export function printExclusions(
  leftOut: readonly Exclusion[],
  { stderr }: Pick<Io, "stderr">,
): void {
  for (const reason of new Set(leftOut.map((entry) => entry.reason))) {
    const paths = [
      ...new Set(leftOut.filter((entry) => entry.reason === reason).map((entry) => entry.path)),
    ];
    stderr.write(`left out, ${reason}: ${firstOf(paths)}\n`);
  }
}

/** Prints the paths that a pull excludes, and the option that includes them. */
export function printPullExclusions(
  leftOut: readonly Exclusion[],
  world: Pick<Io, "stderr">,
): void {
  printExclusions(leftOut, world);
  if (leftOut.length > 0) world.stderr.write("To take such files, add --include <pattern>.\n");
}

/** Prints a warning if programs on this machine read or run one of these files automatically. */
export function warnRunAutomatically(
  paths: readonly string[],
  { stderr }: Pick<Io, "stderr">,
): void {
  const named = paths.filter(isRunAutomatically);
  if (named.length > 0)
    stderr.write(
      `warning: programs read or run these files automatically; check them first: ${firstOf(named)}\n`,
    );
}

function firstOf(paths: readonly string[]): string {
  const more = paths.length > MOST_NAMES ? `, and ${paths.length - MOST_NAMES} more` : "";
  return `${paths.slice(0, MOST_NAMES).map(toLine).join(", ")}${more}`;
}
