import type { Host } from "../providers/hosts";
import { isListed, modelsOf } from "../providers/models";
import { nearest } from "./nearest";
import type { Section } from "./fields";

/** Slips in a model's name. A model that came later may differ by as little, so this is a warning and not an error. */
const MOST_SLIPS = 2;

const lettersOf = (model: string): string => model.toLowerCase().replaceAll(/[^a-z]/g, "");
const digitsOf = (model: string): string => model.replaceAll(/\D/g, "");
/** Same words, other number: more likely another version than a slip. */
const isVersionOf = (model: string, known: string): boolean =>
  lettersOf(model) === lettersOf(known) && digitsOf(model) !== digitsOf(known);

/** Warns of a name that is nearly one of the host's models. Hosts whose models are not listed have none to compare with. */
export function checkModelName({ findings, path }: Section, { model, host }: { model: string; host: Host }): void {
  if (isListed(model)) return;
  const meant = nearest(
    model,
    modelsOf(host.id).filter((known) => !isVersionOf(model, known)),
    MOST_SLIPS,
  );
  if (meant === null) return;
  const detail = `${host.name} has no model ${model} that this service knows. Did you mean \`${meant}\`?`;
  findings.warn("model_unknown", [...path, "model"], detail);
}
