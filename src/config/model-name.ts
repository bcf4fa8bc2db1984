import type { Host } from "../providers/hosts";
import { DATED, isListed, modelsOf } from "../providers/models";
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
export function checkModelName(
  { findings, path }: Section,
  { model, host }: { model: string; host: Host },
): void {
  if (isListed(model)) return;
  const meant = meantBy(model, modelsOf(host.id));
  if (meant === null) return;
  const detail = `${host.name} has no model ${model} that this service knows. Did you mean \`${meant}\`?`;
  findings.warn("model_unknown", [...path, "model"], detail);
}

/** As others write the names of models: with the vendor before, with a date behind. */
const bareName = (model: string): string => model.replace(/^[^/]*\//, "").replace(DATED, "");

/** The model of `models` that is written another way or with a slip; null if none is near, or if several are meant alike. */
function meantBy(model: string, models: readonly string[]): string | null {
  const name = bareName(model);
  if (models.includes(name)) return name;
  const ending = models.filter((known) => known.endsWith(`-${name.toLowerCase()}`));
  if (ending.length === 1) return ending[0] ?? null;
  return nearest(
    name,
    models.filter((known) => !isVersionOf(name, known)),
    MOST_SLIPS,
  );
}
