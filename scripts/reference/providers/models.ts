import { hostById } from "../../../src/providers/hosts";
import {
  type LongPrompt,
  MODEL_GROUPS,
  type ModelGroup,
  type Row,
} from "../../../src/providers/model-rows";
import { code, grouped, table, usd } from "../markdown";

/** The table of known models: context window, output limit, and dated prices. */
export function modelsTable(): string {
  const prices = ["Input", "Cached", "Cache write", "Output"];
  const header = [
    "Provider",
    "Model",
    "Context window",
    "Maximum output",
    ...prices,
    "Long prompts",
    "Date of prices",
  ];
  return table(header, MODEL_GROUPS.flatMap(groupRows));
}

const groupRows = ({ host, pricedAt, rows, sound }: ModelGroup): string[][] =>
  Object.entries(rows).map(([model, row]) => [
    hostById(host).name,
    code(model),
    ...modelCells(row, sound?.[model]),
    pricedAt,
  ]);

function modelCells(
  [window, mostOutput, input, cached, output, cacheWrite, long]: Row,
  sound: number | undefined,
): string[] {
  const cacheWriteUsd = cacheWrite == null ? "" : usd(cacheWrite);
  const inputPrice = sound === undefined ? usd(input) : `${usd(input)}, audio ${usd(sound)}`;
  return [
    grouped(window),
    grouped(mostOutput),
    inputPrice,
    usd(cached),
    cacheWriteUsd,
    usd(output),
    long ? longPromptText(long) : "",
  ];
}

const longPromptText = ({ above, input, output }: LongPrompt): string =>
  `above ${grouped(above)}: input × ${input}, output × ${output}`;
