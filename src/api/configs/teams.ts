import {
  type ConfigContext,
  type ConfigProblem,
  listAgents,
  parseTeam,
} from "../../config/parse-team";
import { teamForModel } from "../../config/team-for-model";
import type { ConfigList } from "../../protocol/api/listings";
import { configPath } from "../../protocol/paths";
import { hostById, KEY_NAMES } from "../../providers/registry";
import { ApiError } from "../errors";

/** YAML of the included teams, by name. */
export type Teams = Readonly<Record<string, string>>;
type Entry = ConfigList["data"][number];

/** Name of the team for requests that name no team. */
const DEFAULT_TEAM = "demo";

/** The team in a request. `config`: a name, or the config as an object. */
type TeamChoice = {
  config?: string | Record<string, unknown> | undefined;
  config_yaml?: string | undefined;
};

/**
 * The config of the request, or the default team if the request names none. `name`: the name in the
 * request, which is the name of a team or of a model; `null` if the request contains a config.
 * Throws `unknown_team`.
 */
export function teamSource(
  teams: Teams,
  { config = DEFAULT_TEAM, config_yaml }: TeamChoice,
): { name: string | null; source: unknown } {
  if (config_yaml !== undefined) return { name: null, source: config_yaml };
  if (typeof config !== "string") return { name: null, source: config };
  const source = namedTeam(teams, config) ?? teamOfName(teams, config);
  if (source !== undefined) return { name: config, source };
  const hint = `Included teams: ${Object.keys(teams).join(", ")}. Or use the name of a model with a known provider.`;
  throw new ApiError("unknown_team", `There is no included team of this name. ${hint}`);
}

function teamOfName(teams: Teams, name: string): unknown {
  const result = teamForModel(name);
  switch (result.found) {
    case "config":
      return result.config;
    case "team":
      return namedTeam(teams, result.name);
    case "unknown":
      return undefined;
  }
}

/**
 * YAML of an included team. Ignores inherited properties, because a name in a request can be for
 * example `toString`.
 */
export const namedTeam = (teams: Teams, name: string): string | undefined =>
  Object.hasOwn(teams, name) ? teams[name] : undefined;

/** The list entry of a team: its agents, the keys that it needs, and why it cannot run here. */
export function describeTeam(name: string, yaml: string, context: ConfigContext): Entry {
  const parsed = parseTeam(yaml, context);
  const withAllKeys = parseTeam(yaml, { ...context, storedKeys: KEY_NAMES });
  const backends = withAllKeys.ok ? withAllKeys.team.agents.map(({ backend }) => backend) : [];
  const stored = backends
    .filter(({ key }) => key.from === "stored")
    .map(({ host }) => hostById(host).keyNames);
  const keys = new Map(stored.map((names) => [names.join(" "), names]));
  return {
    name,
    title: titleOf(yaml) || name,
    agents: withAllKeys.ok ? listAgents(withAllKeys.team) : [],
    keys: [...keys.values()].map((names) => ({
      names: [...names],
      set: names.some((key) => context.storedKeys.includes(key)),
    })),
    default: name === DEFAULT_TEAM,
    runnable: parsed.ok,
    missing: parsed.ok ? [] : parsed.errors.map(toFault),
    links: { config: configPath(name) },
  };
}

const toFault = (problem: ConfigProblem): Entry["missing"][number] => ({ ...problem });

/** Matches a comment line for editors, such as `# yaml-language-server: $schema=…`. */
const DIRECTIVE = /^#\s*[\w-]+:\s*\S*=/;

/** Returns the first paragraph of the comment at the start of a config. */
export function titleOf(yaml: string): string {
  const lines = yaml.split("\n");
  const comment = lines
    .slice(
      0,
      lines.findIndex((line) => !line.startsWith("#")),
    )
    .filter((line) => !DIRECTIVE.test(line));
  const texts = comment.map((line) => line.replace(/^#\s*/, "").trim());
  const start = texts.findIndex((text) => text !== "");
  if (start < 0) return "";
  const end = texts.indexOf("", start);
  return texts.slice(start, end < 0 ? undefined : end).join(" ");
}
