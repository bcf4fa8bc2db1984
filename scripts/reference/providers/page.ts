import { UNKNOWN_MODEL } from "../../../src/providers/models";
import { grouped, page } from "../markdown";
import { modelsTable } from "./models";
import { paramsTable, reservedTable } from "./params";
import { hostedTable, originsTable, refusedTable, typesTable } from "./types";

const INTRO = `Every backend type, model, price, parameter and hosted tool, from the tables that the service uses.
How to choose a model and give it a key: [the guide](../guides/team.md).`;

const MODELS_NOTE = `US dollars per million tokens. A model that is not listed also runs, with a context window of \
${grouped(UNKNOWN_MODEL.contextWindow)} tokens, at most ${grouped(UNKNOWN_MODEL.maxOutputTokens)} output tokens, and no known price.`;

/** The complete page `docs/reference/providers.md`. */
export const providersPage = (): string => page("# Providers", INTRO, ...sections());

function sections(): string[] {
  return [
    ["## Backend types", typesTable()],
    [
      "## Hosted tools",
      "List prices of November 2026. A call reserves the price of its uses before it starts.",
      hostedTable(),
    ],
    ["## Where a stored key may go", originsTable()],
    [
      "## Parameters",
      "A dash: not supported. A cell that begins with “use” or “remove”: not supported, with the remedy.",
      paramsTable(),
      reservedTable(),
    ],
    ["## Models", MODELS_NOTE, modelsTable()],
    ["## Types that are refused", refusedTable()],
  ].flat();
}
