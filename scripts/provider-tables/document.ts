import { UNKNOWN_MODEL } from "../../src/providers/models";
import { grouped } from "./markdown";
import { modelsTable } from "./models";
import { paramsTable, reservedTable } from "./params";
import { hostedTable, originsTable, refusedTable, typesTable } from "./types";

const BEGIN = "<!-- From here on made by `npm run providers:table` from src/providers. -->";

/** The document with its tables made anew from the data; what stands above them stays. Throws if it has no place for them. */
export function withTables(document: string): string {
  const end = document.indexOf(BEGIN);
  if (end < 0)
    throw new Error(
      `There is no place for the tables. Put this line where they shall begin:\n${BEGIN}`,
    );
  return `${document.slice(0, end)}${BEGIN}\n\n${tables()}\n`;
}

const MODELS_NOTE = `US dollars per million tokens. A model that is not here runs all the same: with a window of \
${grouped(UNKNOWN_MODEL.contextWindow)} tokens, at most ${grouped(UNKNOWN_MODEL.maxOutputTokens)} of output, and no known price.`;

function tables(): string {
  return [
    ["## Backend types", typesTable()],
    [
      "## Hosted tools",
      "List prices as read in November 2026; what a call may use is reserved before it starts.",
      hostedTable(),
    ],
    ["## Where a stored key may go", originsTable()],
    [
      "## Parameters",
      "A dash: refused as unknown to the format. “no”: refused, with what to write instead.",
      paramsTable(),
      reservedTable(),
    ],
    ["## Models", MODELS_NOTE, modelsTable()],
    ["## Types that are refused", refusedTable()],
  ]
    .flat()
    .join("\n\n");
}
