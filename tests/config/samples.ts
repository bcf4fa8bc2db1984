import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { checkTeam, type ConfigContext } from "../../src/config/parse-team";
import { KEY_NAMES } from "../../src/providers/hosts";
import { questionTo } from "./sample-question";
import { isMet, type Sample } from "./sample-table";

/** Reads MassGen's example files, if they are next to the repository. */

export const EXAMPLES = path.resolve("../shared/massgen-configs");

/** Names of all example files. Empty if they are missing. */
export const SAMPLE_NAMES: readonly string[] = existsSync(EXAMPLES)
  ? readdirSync(EXAMPLES, { recursive: true, encoding: "utf8" }).filter((name) =>
      name.endsWith(".yaml"),
    )
  : [];

export const readSample = (name: string): string => readFileSync(path.join(EXAMPLES, name), "utf8");

/** An operator with every key and no allowed private address. */
export const SAMPLES_CONTEXT: ConfigContext = {
  storedKeys: KEY_NAMES,
  contexts: new Set(),
  allowedOrigins: [],
  variables: { AZURE_OPENAI_ENDPOINT: "https://ours.openai.azure.com" },
};

/** The result of a sample whose files are attached to the question. */
export async function sampleOf(name: string): Promise<Sample> {
  const { yaml, names: sent } = await questionTo(readSample(name), EXAMPLES);
  const { refusals } = checkTeam(yaml, { ...SAMPLES_CONTEXT, attached: sent });
  return { file: name, needs: refusals.flatMap(({ need }) => need ?? []), sent };
}

/** Samples that run, possibly after a step of the user. */
export async function runnableSamples(): Promise<Sample[]> {
  const samples = await Promise.all(SAMPLE_NAMES.map(sampleOf));
  return samples.filter(({ needs }) => needs.every(isMet));
}

/** The name of the upload that contains a sample's local files. */
export const PUSHED_AS = "project";

/** The config with the upload's name in place of local paths. */
export const withContextsNamed = (yaml: string): string =>
  yaml.replaceAll(/^(\s+- path:) .*$/gm, `$1 ${PUSHED_AS}`);
