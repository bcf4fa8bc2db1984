import { typeOfModel } from "../providers/models";
import { SERVED_TYPES } from "../providers/registry";

/** Selects a team by a model name, for requests without a config. */

/**
 * `config`: a team of one agent, as input for `parseTeam`. `team`: the name of an included team.
 * `unknown`: no team is found; `detail` explains which name to write.
 */
type ModelTeam =
  | { found: "config"; config: { agent: { id: string; backend: { type: string; model: string } } } }
  | { found: "team"; name: string }
  | { found: "unknown"; detail: string };

const TEAM_PREFIX = "massgen/";
const MODEL_PREFIX = "model:";

/**
 * Returns the team for a model name. `massgen/<team>` selects an included team.
 * `massgen/model:<id>` and a bare model id select a team of one agent. `backendType`: the type of
 * that agent's backend; if omitted, the model's name must identify the type. Pure; does not check
 * keys.
 */
export function teamForModel(name: string, backendType?: string): ModelTeam {
  const trimmed = name.trim();
  if (!trimmed.startsWith(TEAM_PREFIX)) return teamOfOne(trimmed, backendType);
  const rest = trimmed.slice(TEAM_PREFIX.length);
  if (rest.startsWith(MODEL_PREFIX)) return teamOfOne(rest.slice(MODEL_PREFIX.length), backendType);
  return rest === ""
    ? unknown("Write the name of a team after `massgen/`, such as `massgen/demo`.")
    : { found: "team", name: rest };
}

function teamOfOne(model: string, backendType: string | undefined): ModelTeam {
  if (model === "") return unknown("The name of the model is missing.");
  const type = backendType ?? typeOfModel(model);
  if (type === null) {
    return unknown(
      `The name of the model does not identify its provider. Also give a backend type: ${SERVED_TYPES.join(", ")}.`,
    );
  }
  return { found: "config", config: { agent: { id: "agent", backend: { type, model } } } };
}

const unknown = (detail: string): ModelTeam => ({ found: "unknown", detail });
