import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { checkTeam, type ConfigContext } from "../../src/config/parse-team";
import { KEY_NAMES } from "../../src/providers/hosts";
import { questionTo } from "./sample-question";
import { isMet, type Sample } from "./sample-table";

/** MassGen's own example files, where they lie beside the repository, and how each of them stands. */

export const EXAMPLES = path.resolve("../shared/massgen-configs");

/** Names of all of them; none where they are not there. */
export const SAMPLE_NAMES: readonly string[] = existsSync(EXAMPLES)
  ? readdirSync(EXAMPLES, { recursive: true, encoding: "utf8" }).filter((name) =>
      name.endsWith(".yaml"),
    )
  : [];

export const readSample = (name: string): string => readFileSync(path.join(EXAMPLES, name), "utf8");

/** An operator who has every key and allows nothing private. */
export const SAMPLES_CONTEXT: ConfigContext = {
  storedKeys: KEY_NAMES,
  contexts: new Set(),
  allowedOrigins: [],
  variables: { AZURE_OPENAI_ENDPOINT: "https://ours.openai.azure.com" },
};

/** How a sample stands that is asked with the files it names. */
export async function sampleOf(name: string): Promise<Sample> {
  const { yaml, names: sent } = await questionTo(readSample(name), EXAMPLES);
  const { refusals } = checkTeam(yaml, { ...SAMPLES_CONTEXT, attached: sent });
  return { file: name, needs: refusals.flatMap(({ need }) => need ?? []), sent };
}

/** Those that run, at once or once somebody has done what their row in the table says. */
export async function runnableSamples(): Promise<Sample[]> {
  const samples = await Promise.all(SAMPLE_NAMES.map(sampleOf));
  return samples.filter(({ needs }) => needs.every(isMet));
}

/** The name under which a sample's files of a machine are uploaded. */
export const PUSHED_AS = "project";

/** A config whose files of a machine were uploaded. */
export const withContextsNamed = (yaml: string): string =>
  yaml.replaceAll(/^(\s+- path:) .*$/gm, `$1 ${PUSHED_AS}`);
