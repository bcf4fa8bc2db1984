import { existsSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { chooseTeam } from "../../cli/asking/team-choice";
import { type Fetcher, isAddress } from "../../cli/uploads/fetch-file";
import { uploadsIn, withUploads } from "../../cli/uploads/uploads";
import type { WantedAttachment } from "../../src/agents/attached";
import type { AskedQuestion } from "../../src/protocol/api";
import { toQuestion } from "../../src/api/sessions/question-parts";
import { wav } from "../api/sessions/attachments";

/** Small valid files, by extension. */
const SMALL_FILES: Readonly<Record<string, Buffer>> = {
  ".jpg": Buffer.from("ffd8ffe000104a46494600010100000100010000ffd9", "hex"),
  ".png": Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"),
  ".pdf": Buffer.from("%PDF-1.4\n%%EOF\n"),
  ".wav": wav(),
  ".txt": Buffer.from("text\n"),
};

/** Returns a small file in place of the file at an address, without a request. */
const getSmallFile: Fetcher = async ({ pathname }) => ({
  status: 200,
  location: null,
  body: smallOf(pathname),
  close: () => undefined,
});

async function* smallOf(name: string): AsyncGenerator<Uint8Array> {
  const small = SMALL_FILES[path.extname(name)];
  if (!small) throw new Error(`${name} is of no kind that is known here`);
  yield small;
}

/**
 * A config and its question as the command line sends them. `attachments`: as the service reads
 * them.
 */
type SampleQuestion = {
  yaml: string;
  question: AskedQuestion;
  names: string[];
  attachments: readonly WantedAttachment[];
};

/**
 * The question that the command line sends for a config. The config's files come from the folder
 * `examples`. Missing files, and files at an address, are replaced by small files of the same type.
 */
export async function questionTo(yaml: string, examples: string): Promise<SampleQuestion> {
  const cwd = await mkdtemp(path.join(tmpdir(), "sample-"));
  try {
    await writeFile(path.join(cwd, "team.yaml"), yaml);
    for (const name of uploadsIn(yaml)) if (!isAddress(name)) await placeFile(name, examples, cwd);
    const io = { cwd, home: cwd, stderr: { write: () => undefined } };
    const { request, attachments: attached } = await chooseTeam({ config: "team.yaml" }, io, {
      byUser: getSmallFile,
      byConfig: getSmallFile,
    });
    const question = withUploads("What is there?", attached);
    const { attachments } = await toQuestion(question);
    const names = attachments.flatMap((wanted) =>
      "bytes" in wanted ? [wanted.attachment.name] : [],
    );
    return { yaml: request.config_yaml ?? "", question, names, attachments };
  } finally {
    await rm(cwd, { recursive: true });
  }
}

async function placeFile(name: string, examples: string, cwd: string): Promise<void> {
  const file = path.join(cwd, name);
  const example = path.join(examples, name);
  if (!file.startsWith(cwd + path.sep)) throw new Error(`${name} lies outside of the folder`);
  await mkdir(path.dirname(file), { recursive: true });
  if (existsSync(example)) await copyFile(example, file);
  else await writeFile(file, smallOf(name));
}
