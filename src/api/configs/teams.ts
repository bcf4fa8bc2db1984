import { type ConfigContext, type ConfigProblem, parseTeam } from "../../config/parse-team";
import { teamForModel } from "../../config/team-for-model";
import type { ConfigList } from "../../protocol/api/listings";
import { configPath } from "../../protocol/paths";
import { hostById, KEY_NAMES } from "../../providers/registry";
import { ApiError } from "../errors";

/** YAML of the included teams, by name. */
export type Teams = Readonly<Record<string, string>>;
type Entry = ConfigList["data"][number];

/** The team of a request that names none. */
const DEFAULT_TEAM = "demo";

/** The team in a request: a name, an object or YAML. */
type TeamChoice = {
  config?: string | Record<string, unknown> | undefined;
  config_yaml?: string | undefined;
};

/**
 * The config of the request, by default that of the default team. `name`: the name of a team or
 * model; `null` if the request has a config. Throws `unknown_team`.
 */
export function teamSource(
  teams: Teams,
  { config = DEFAULT_TEAM, config_yaml }: TeamChoice,
): { name: string | null; source: unknown } {
  if (config_yaml !== undefined) return { name: null, source: config_yaml };
  if (typeof config !== "string") return { name: null, source: config };
  const source = namedTeam(teams, config) ?? teamOfName(teams, config);
  if (source !== undefined) return { name: config, source };
  const offer = `Included teams: ${Object.keys(teams).join(", ")}. Or use the name of a model with a known provider.`;
  throw new ApiError("unknown_team", `There is no included team of this name. ${offer}`);
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
 * The name comes from a request, so it can be that of an inherited property, such as `toString`.
 */
export const namedTeam = (teams: Teams, name: string): string | undefined =>
  Object.hasOwn(teams, name) ? teams[name] : undefined;

/** A list entry of a team: its agents, the keys it needs, and why it cannot run here. */
export function describeTeam(name: string, yaml: string, context: ConfigContext): Entry {
  const here = parseTeam(yaml, context);
  const withAllKeys = parseTeam(yaml, { ...context, storedKeys: KEY_NAMES });
  const backends = withAllKeys.ok
    ? withAllKeys.team.agents.map(({ id, backend }) => ({ id, ...backend }))
    : [];
  const stored = backends
    .filter(({ key }) => key.from === "stored")
    .map(({ host }) => hostById(host).keyNames);
  const keys = new Map(stored.map((names) => [names.join(" "), names]));
  return {
    name,
    title: titleOf(yaml) || name,
    agents: backends.map(({ id, type, host, model }) => ({ id, type, provider: host, model })),
    keys: [...keys.values()].map((names) => ({
      names: [...names],
      set: names.some((key) => context.storedKeys.includes(key)),
    })),
    default: name === DEFAULT_TEAM,
    runnable: here.ok,
    missing: here.ok ? [] : here.errors.map(toFault),
    links: { config: configPath(name) },
  };
}

const toFault = (problem: ConfigProblem): Entry["missing"][number] => ({ ...problem });

/** Comments for editors. */
const DIRECTIVE = /^#\s*[\w-]+:\s*\S*=/;

/** First paragraph of the comment at the start of a config. */
export function titleOf(yaml: string): string {
  const lines = yaml.split("\n");
  const comment = lines
    .slice(
      0,
      lines.findIndex((line) => !line.startsWith("#")),
    )
    .filter((line) => !DIRECTIVE.test(line));
  const texts = comment.map((line) => line.replace(/^#\s*/, "").trim());
  const from = texts.findIndex((text) => text !== "");
  if (from < 0) return "";
  const to = texts.indexOf("", from);
  return texts.slice(from, to < 0 ? undefined : to).join(" ");
}
