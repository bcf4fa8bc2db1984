import { CODE_MEANINGS, type ErrorCode, statusOf } from "../../src/api/errors";
import { NEED_IDS, NEEDS, type NeedId, SERVED } from "../../src/config/needs";
import { ENDED_BY_MEANINGS, FAILURE_MEANINGS, PROBLEM_MEANINGS } from "./error-meanings";
import { code, page, sentence, table } from "./markdown";

const INTRO = `Errors of the HTTP API are \`application/problem+json\` (RFC 9457) with a stable \`code\`. Match on \`code\`; \`detail\` is for
people and may change. What to do about frequent errors: [troubleshooting](../guides/troubleshooting.md).
Exit codes of the command line: [cli](cli.md#exit-codes).`;

export function errorsPage(): string {
  return page(
    "# Errors",
    INTRO,
    "## HTTP",
    table(
      ["Status", "Code", "Meaning"],
      httpCodes().map((name) => [`${statusOf(name)}`, code(name), sentence(CODE_MEANINGS[name])]),
    ),
    "## Configs",
    "The `errors` of a 422 `config_invalid` list the problems, each with one of these codes, a line and a column.",
    meaningsTable("Code", PROBLEM_MEANINGS),
    "## Features that are not supported",
    "A problem with the code `not_served` has the name of the feature in `need`.",
    table(
      ["Need", "Feature", "Remedy"],
      NEED_IDS.filter((need) => !isServed(need)).map((need) => [
        code(need),
        sentence(NEEDS[need].what),
        NEEDS[need].way,
      ]),
    ),
    "## Model calls",
    "`call.failed` has one of these classes in `class`.",
    meaningsTable("Class", FAILURE_MEANINGS),
    "## End of coordination",
    "`attempt.settled` has one of these in `ended_by`.",
    meaningsTable("Reason", ENDED_BY_MEANINGS),
  );
}

/** Whether sessions of this service have a feature that other deployments may lack. */
const isServed = (need: NeedId): boolean =>
  Object.entries(SERVED).some(([feature, served]) => feature === need && served);

const meaningsTable = (header: string, meanings: Readonly<Record<string, string>>): string =>
  table(
    [header, "Meaning"],
    Object.entries(meanings).map(([name, meaning]) => [code(name), meaning]),
  );

const isCode = (name: string): name is ErrorCode => name in CODE_MEANINGS;
const httpCodes = (): ErrorCode[] =>
  Object.keys(CODE_MEANINGS)
    .filter(isCode)
    .sort((one, other) => statusOf(one) - statusOf(other) || one.localeCompare(other, "en"));
