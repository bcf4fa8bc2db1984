import { typeOfModel } from "../providers/models";
import { SERVED_TYPES } from "../providers/registry";

/** Model names that select a team without a config. */

/**
 * `config` is input for `parseTeam`; `team` names an included team; `unknown` explains what to
 * write.
 */
type ModelTeam =
  | { found: "config"; config: { agent: { id: string; backend: { type: string; model: string } } } }
  | { found: "team"; name: string }
  | { found: "unknown"; detail: string };

const OURS = "massgen/";
const MODEL = "model:";

/**
 * The team for a model name. `massgen/<team>` is the team of that name; `massgen/model:<id>` and a
 * bare model id are a team of one agent. `backendType` selects the backend; otherwise the model's
 * name must identify it. Pure; does not check keys.
 */
export function teamForModel(name: string, backendType?: string): ModelTeam {
  const written = name.trim();
  if (!written.startsWith(OURS)) return ofModel(written, backendType);
  const rest = written.slice(OURS.length);
  if (rest.startsWith(MODEL)) return ofModel(rest.slice(MODEL.length), backendType);
  return rest === ""
    ? unknown("Write the name of a team after `massgen/`, such as `massgen/demo`.")
    : { found: "team", name: rest };
}

function ofModel(model: string, backendType: string | undefined): ModelTeam {
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
