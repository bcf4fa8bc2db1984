import { checkKeys } from "./check-keys";
import type { ConfigContext } from "./context";
import { protectedPathProblem, PROTECTION_LIMITS } from "../workspace/permissions";
import { CONTEXT_NAME, contextNameFrom } from "../protocol/api/contexts";
import { subsection, list, oneOf, read, type Section, text } from "./fields";
import { CONTEXT_PATH_KEYS } from "./known-keys";
import { MAX_CONTEXTS, MAX_URL_CHARS } from "./config-limits";
import { joinSubjects, refusalOf } from "./needs";
import { shortQuote } from "./problems";
import { readShell } from "./shell";
import { BACKEND } from "./backend-settings";
import { readSetting, type Setting } from "./setting";
import { COORDINATION, ORCHESTRATOR } from "./team-settings";
import type { ContextGrant, WorkspaceSettings } from "./team";
import { type Entry, entriesOf, toQuote } from "./value-needs";

/**
 * Determines which agents have workspaces and contexts. An agent has a workspace if its `backend`
 * section requests one: by `cwd`, the shell, or its own contexts. If no `backend` section requests
 * a workspace, but the `orchestrator` section does, all agents have one.
 */

/** File settings of the `orchestrator` section. */
export type TeamFiles = {
  /** Whether the section requests workspaces. */
  asksForFiles: boolean;
  /** Contexts of all agents. */
  contexts: ContextGrant[];
  /** Maximum number of tasks in agents' to-do lists; `null` if they have none. */
  tasks: number | null;
};

/** Reads the file settings of the `orchestrator` section. */
export function readTeamFiles(orchestrator: Section, context: ConfigContext): TeamFiles {
  const requests = [ORCHESTRATOR.snapshots, ORCHESTRATOR.temporary].filter((setting) =>
    requestsWorkspace(orchestrator, setting),
  );
  const contexts = readContexts(orchestrator, context);
  return {
    asksForFiles: requests.length > 0 || contexts.length > 0,
    contexts,
    tasks: readTasks(subsection(orchestrator, "coordination")),
  };
}

/** Maximum number of tasks in agents' to-do lists; `null` if they have none. */
function readTasks(coordination: Section): number | null {
  const { path, values, findings } = coordination;
  const maxTasks = readSetting(coordination, COORDINATION.mostTasks);
  if (readSetting(coordination, COORDINATION.tasks)) {
    const { key } = COORDINATION.tasks;
    findings.refuse({ need: "task_planning_tools", path: [...path, key], subject: `\`${key}\`` });
    return maxTasks;
  }
  for (const { key } of [COORDINATION.mostTasks, COORDINATION.tasksInFiles]) {
    if ((values.get(key) ?? null) === null) continue;
    const detail = `\`${key}\` is ignored: it has no effect without \`${COORDINATION.tasks.key}: true\`.`;
    findings.warn("no_effect", [...path, key], detail, "key");
  }
  return null;
}

/** Whether an agent's `backend` section requests files. Does not check the section. */
export const asksForFiles = (backend: unknown): boolean =>
  backend instanceof Map &&
  [BACKEND.cwd.key, BACKEND.shell.key, "context_paths"].some((key) => isOn(backend.get(key)));

/** Whether a value requests something: it is not missing, empty or `false`. */
const isOn = (value: unknown): boolean =>
  value !== undefined &&
  value !== null &&
  value !== false &&
  value !== "" &&
  !(Array.isArray(value) && value.length === 0);

/** Reads the file settings of an agent. Returns `null` if the agent has no workspace. */
export function readWorkspace(
  backend: Section,
  team: TeamFiles,
  context: ConfigContext,
): WorkspaceSettings | null {
  const hasCwd = requestsWorkspace(backend, BACKEND.cwd);
  const { shell, commands } = readShell(backend, context);
  const contexts = readContexts(backend, context);
  const noFileTools = readSetting(backend, BACKEND.noFileTools);
  const readBeforeDelete = readSetting(backend, BACKEND.readFirst);
  if (!hasCwd && !shell && contexts.length === 0 && !team.asksForFiles && team.tasks === null) {
    warnOfUseless(backend);
    return null;
  }
  if (noFileTools && !shell) {
    const detail =
      "With `exclude_file_operation_mcps` the agent can reach its files only by the shell: also write `enable_mcp_command_line: true`.";
    backend.findings.error(
      "not_allowed",
      [...backend.path, BACKEND.noFileTools.key],
      detail,
      "key",
    );
  }
  return {
    ...{
      fileTools: !noFileTools,
      shell,
      readBeforeDelete,
      contexts: mergeGrants(team.contexts, contexts),
    },
    ...(commands && { commands }),
    ...(team.tasks !== null && { tasks: team.tasks }),
  };
}

/**
 * Combines the contexts of the team with an agent's own. For a context in both lists, the agent's
 * grant applies, and the team's protected paths remain protected.
 */
function mergeGrants(
  shared: readonly ContextGrant[],
  own: readonly ContextGrant[],
): ContextGrant[] {
  const teamPaths = new Map(shared.map((grant) => [grant.name, grant.protectedPaths]));
  const names = new Set(own.map(({ name }) => name));
  return [
    ...shared.filter(({ name }) => !names.has(name)),
    ...own.map((grant) => {
      const teamProtectedPaths = teamPaths.get(grant.name) ?? [];
      return { ...grant, ...(teamProtectedPaths.length > 0 && { teamProtectedPaths }) };
    }),
  ];
}

/** Warns about settings of a workspace that the agent does not have. */
function warnOfUseless({ path, values, findings }: Section): void {
  for (const { key } of [BACKEND.noFileTools, BACKEND.readFirst]) {
    if ((values.get(key) ?? null) === null) continue;
    findings.warn(
      "no_effect",
      [...path, key],
      `\`${key}\` is ignored: the agent has no workspace (\`cwd\` enables it).`,
      "key",
    );
  }
}

/**
 * Whether a setting with a path requests a workspace. The path itself has no effect, which is a
 * warning.
 */
function requestsWorkspace(section: Section, setting: Setting<string, null>): boolean {
  const { findings } = section;
  const { key } = setting;
  const path = [...section.path, key];
  if ((readSetting(section, setting) ?? "") === "") return false;
  findings.refuse({ need: "workspace", path, subject: `\`${key}\`` });
  const detail = `\`${key}\` only enables workspaces: each agent has its own, and the path itself is ignored.`;
  if (findings.serves("workspace")) findings.warnOnce("no_effect", path, detail, "key");
  return true;
}

export const PERMISSION = oneOf(["read", "write"]);
export const PROTECTED_PATH = text(PROTECTION_LIMITS.length);

function readContexts(section: Section, context: ConfigContext): ContextGrant[] {
  const configured = section.values.get("context_paths");
  if (!isOn(configured)) return [];
  const path = [...section.path, "context_paths"];
  const entries = entriesOf(section, "context_paths", configured);
  if (entries.length > MAX_CONTEXTS)
    section.findings.error(
      "out_of_range",
      path,
      `At most ${MAX_CONTEXTS} contexts are possible; this list has ${entries.length}.`,
    );
  const grants: ContextGrant[] = [];
  for (const entry of entries.slice(0, MAX_CONTEXTS)) {
    checkKeys(entry.section, CONTEXT_PATH_KEYS);
    const grant = readGrant(section, entry, context);
    if (grant && grants.some(({ name }) => name === grant.name))
      section.findings.error("duplicate", entry.section.path, `\`${grant.name}\` is listed twice.`);
    else if (grant) grants.push(grant);
  }
  return grants;
}

function readGrant(
  section: Section,
  { name: entryName, section: entry }: Entry,
  { contexts }: ConfigContext,
): ContextGrant | null {
  const permission = read(entry, "permission", PERMISSION, "read");
  const protectedPaths = readProtected(entry);
  const isWord = entry.values.size === 0;
  if (!isWord && (entry.values.get("path") ?? null) === null) {
    section.findings.error("missing", entry.path, "path is missing: write the name of an upload.");
    return null;
  }
  const name = isWord ? entryName : read(entry, "path", text(MAX_URL_CHARS), null);
  if (name === null) return null;
  const isUploaded = CONTEXT_NAME.test(name) && (contexts?.has(name) ?? true);
  if (!isUploaded || !section.findings.serves("contexts")) {
    const place = { path: [...section.path, "context_paths"], subject: name };
    section.findings.refuse({ need: "host_context_path", ...place, say: uploadFirst });
    return null;
  }
  return { name, permission, protectedPaths };
}

/** The refusal of missing uploads, with the commands that upload them. */
function uploadFirst(names: readonly string[]): string {
  const commands = names.map((name) => {
    const isPath = !CONTEXT_NAME.test(name);
    const uploaded = contextNameFrom(name) ?? "project";
    return `\`massgen-edge push ${isPath ? `${toShellArgument(name)} ` : ""}--name ${uploaded}\`${isPath ? ` (then write \`${uploaded}\` in the config)` : ""}`;
  });
  return `${refusalOf("host_context_path", names.map(toQuote))} Run ${joinSubjects(commands)}.`;
}

/** The path as one argument in a shell. It is quoted, so that it cannot run other commands. */
function toShellArgument(path: string): string {
  const line = path.replaceAll(/\p{Cc}+/gu, " ");
  const argument = line.startsWith("-") ? `./${line}` : line;
  return /^[\w./~-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`;
}

function readProtected(entry: Section): string[] {
  const { findings } = entry;
  const { entries } = PROTECTION_LIMITS;
  const path = [...entry.path, "protected_paths"];
  const paths = read(entry, "protected_paths", list, []);
  if (paths.length > entries)
    findings.error(
      "out_of_range",
      path,
      `At most ${entries} protected paths are possible; this list has ${paths.length}.`,
    );
  return paths.slice(0, entries).flatMap((item, index) => {
    const problem = typeof item === "string" ? protectedPathProblem(item) : null;
    if (typeof item === "string" && problem === null) return [item];
    const reason =
      typeof item === "string" ? `; \`${shortQuote(item)}\` is not valid: ${problem}` : "";
    const detail = `A protected path is a path inside the context, or a pattern as in .gitignore${reason}.`;
    findings.error(
      typeof item === "string" ? "out_of_range" : "wrong_type",
      [...path, index],
      detail,
    );
    return [];
  });
}
