import { readFileSync } from "node:fs";
import { teamSchema } from "../../src/config/json-schema";
import { cliPage } from "./cli";
import { configPage } from "./config";
import { decisionsPage } from "./decisions";
import { errorsPage } from "./errors";
import { eventsPage } from "./events";
import { placeFigures, readFigures } from "./figures";
import { hostingCost } from "./hosting-cost";
import { httpPage } from "./http";
import { limitsPage } from "./limits";
import { providersPage } from "./providers/page";
import { settingsPage } from "./settings";
import { demoPicture } from "./terminal-picture";

/** Pages that people write, with measured figures from `docs/proof/data` between markers. */
export const PAGES_WITH_FIGURES: readonly string[] = [
  "README.md",
  "docs/guides/budgets.md",
  "docs/explain/performance.md",
  "docs/explain/reliability.md",
  "docs/explain/scale.md",
  "docs/proof/performance.md",
  "docs/proof/restructuring.md",
  "docs/decisions/0005-libraries.md",
];

/** Every file that `npm run docs` writes, generated from data that the service itself uses. */
export const GENERATED: readonly { file: string; make: () => string }[] = [
  { file: "docs/reference/http.md", make: withNotice(httpPage) },
  { file: "docs/reference/events.md", make: withNotice(eventsPage) },
  { file: "docs/reference/config.md", make: withNotice(configPage) },
  { file: "docs/reference/cli.md", make: withNotice(cliPage) },
  { file: "docs/reference/settings.md", make: withNotice(settingsPage) },
  { file: "docs/reference/limits.md", make: withNotice(limitsPage) },
  { file: "docs/reference/errors.md", make: withNotice(errorsPage) },
  { file: "docs/reference/providers.md", make: withNotice(providersPage) },
  { file: "docs/decisions/README.md", make: withNotice(decisionsPage) },
  { file: "docs/images/demo.svg", make: demoPicture },
  ...PAGES_WITH_FIGURES.map((file) => ({ file, make: () => pageWithFigures(file) })),
  { file: "configs/team.schema.json", make: () => `${JSON.stringify(teamSchema(), null, 2)}\n` },
];

function withNotice(make: () => string): () => string {
  return () => `<!-- Written by \`npm run docs\`. Do not edit. -->\n\n${make()}`;
}

const pageWithFigures = (file: string): string =>
  placeFigures(readFileSync(file, "utf8"), (name) =>
    name === "hosting" ? hostingCost(readFigures("bench")) : readFigures(name),
  );
