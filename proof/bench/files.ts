import { Client, contextFile, type UploadFile } from "../../client/index";
import { toTar } from "../../client/tar";
import { contextPath } from "../../src/protocol/paths";
import type { ContextUpload } from "../../src/protocol/api/contexts";
import { call } from "../../simulated/providers/scripts";
import { type SimulatedProviders, startSimulatedProviders } from "../../simulated/providers/server";
import { toSituation } from "../../simulated/providers/situation";
import { type Spread, spread } from "./arithmetic";
import { descriptionOf } from "./descriptions";
import { aim, type Figure, type Measurement, range, times } from "./figure";
import { watchRun } from "./run-client";
import type { Runtime } from "./runtime";

/**
 * Uploads of a context of small files, and searches in it. `push`: seconds of an upload from the
 * first to the last response. `search`: seconds of an agent's search in all files, from the end of
 * the model's reply to the next request to the model.
 */
type FilesFigure = {
  files: number;
  bytes: number;
  changedFiles: number;
  push: Record<Way | "changed", Spread>;
  search: Record<Way, { first: Spread; next: Spread }>;
};
/** How the files arrive: as the client sends them, one request per file, or as a tar. */
type Way = "client" | "singly" | "tar";
const WAYS: readonly Way[] = ["client", "singly", "tar"];

const RUNS = 5;
const SIZE = { files: 2_000, changed: 10 };
const SMALL_SIZE = { files: 60, changed: 10 };
const AIM = { push: 5, search: 1.5 };
/** Requests at the same time, if each sends one file. */
const SINGLY_AT_ONCE = 4;
/** Each of so many files contains the searched word once. */
const FILES_PER_MATCH = 20;
const WORD = "needle";

export const FILES: Measurement = {
  ...descriptionOf("files"),
  async measure(bench): Promise<Figure> {
    const size = bench.isSmall ? SMALL_SIZE : SIZE;
    const data = await measureFiles(await bench.machines.disk(), size, times(RUNS, bench));
    const { files, changedFiles, push, search } = data;
    const runs = `${push.client.runs}`;
    const searchLine = (way: Way, words: string): Figure["lines"][number] => ({
      figure: `  first search by an agent, ${words}`,
      measured: seconds(search[way].first),
      runs,
      bound: `the next search ${seconds(search[way].next)}`,
      aim: aim(search[way].first.median, AIM.search, "≤"),
    });
    return {
      lines: [
        {
          figure: `upload of ${files} small files`,
          measured: seconds(push.client),
          runs,
          bound: `as one tar ${seconds(push.tar)}`,
          aim: aim(push.client.median, AIM.push, "≤"),
        },
        {
          figure: `  after ${changedFiles} have changed`,
          measured: seconds(push.changed),
          runs,
          bound: `all files ${seconds(push.client)}`,
        },
        {
          figure: "  one request per file",
          measured: seconds(push.singly),
          runs,
          bound: `as one tar ${seconds(push.tar)}`,
        },
        searchLine("client", "sent by the client"),
        searchLine("singly", "sent one by one"),
        searchLine("tar", "sent as a tar"),
      ],
      data,
    };
  },
};

const seconds = (figure: Spread): string => `${range(figure, 2)} s`;

async function measureFiles(
  { service }: Runtime,
  size: typeof SIZE,
  runs: number,
): Promise<FilesFigure> {
  const client = new Client({ server: service });
  const files = await smallFiles(size.files);
  const expectedMatches = Math.ceil(size.files / FILES_PER_MATCH);
  const pushed: Record<Way | "changed", number[]> = {
    client: [],
    singly: [],
    tar: [],
    changed: [],
  };
  const searched = { client: emptySearches(), singly: emptySearches(), tar: emptySearches() };
  for (let run = 0; run < runs; run += 1) {
    for (const way of WAYS) {
      const name = `bench-files-${way}-${run}`;
      pushed[way].push(await secondsOf(() => SEND[way](client, name, files)));
      const { first, next } = await search(service, name, expectedMatches);
      searched[way].first.push(first);
      searched[way].next.push(next);
      if (way !== "client") continue;
      const changedFiles = await withChanges(files, size.changed);
      pushed.changed.push(await secondsOf(() => SEND.client(client, name, changedFiles)));
    }
  }
  const searchOf = ({ first, next }: Searches) => ({ first: spread(first), next: spread(next) });
  return {
    files: size.files,
    bytes: files.reduce((sum, file) => sum + file.size, 0),
    changedFiles: size.changed,
    push: {
      client: spread(pushed.client),
      singly: spread(pushed.singly),
      tar: spread(pushed.tar),
      changed: spread(pushed.changed),
    },
    search: {
      client: searchOf(searched.client),
      singly: searchOf(searched.singly),
      tar: searchOf(searched.tar),
    },
  };
}

type Searches = { first: number[]; next: number[] };
const emptySearches = (): Searches => ({ first: [], next: [] });

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1_000;
}

/** Different files of 1 to 8 KB in nested folders. */
const smallFiles = (count: number): Promise<UploadFile[]> =>
  Promise.all(Array.from({ length: count }, (_, nth) => contextFile(pathOf(nth), textOf(nth))));

/** The same files, of which the first `changed` have other contents. */
const withChanges = (files: readonly UploadFile[], changed: number): Promise<UploadFile[]> =>
  Promise.all(
    files.map((file, nth) =>
      nth < changed ? contextFile(file.path, `${textOf(nth)}// changed\n`) : file,
    ),
  );

const pathOf = (nth: number): string => `src/part-${nth % 13}/area-${nth % 7}/file-${nth}.ts`;

function textOf(nth: number): string {
  const lines = 30 + ((nth * 37) % 210);
  const word = nth % FILES_PER_MATCH === 0 ? WORD : "straw";
  return `// file ${nth}: ${word}\n${`export const value = ${nth}; //\n`.repeat(lines)}`;
}

type Send = (client: Client, name: string, files: readonly UploadFile[]) => Promise<unknown>;

const SEND: Record<Way, Send> = {
  client: (client, name, files) => client.contexts.upload(name, files),
  singly: sendSingly,
  async tar(client, name, files) {
    const entries = await Promise.all(
      files.map(async ({ path, read }) => ({ name: path, data: await read() })),
    );
    const body = { type: "application/x-tar", data: toTar(entries) };
    return client.json({ method: "PUT", path: contextPath(name), body });
  },
};

/** Sends each file in its own request, as a client does that knows no packs. */
async function sendSingly(
  client: Client,
  name: string,
  files: readonly UploadFile[],
): Promise<void> {
  const json = { files: files.map(({ path, sha256, size }) => ({ path, sha256, size })) };
  const putManifest = () =>
    client.json<ContextUpload>({ method: "PUT", path: contextPath(name), json });
  const { links } = await putManifest();
  const [path = "", query = ""] = links.blobs.split("?");
  const queue = files.values();
  const sendNext = async (): Promise<void> => {
    for (const { sha256, read } of queue) {
      const data = new Uint8Array(await read());
      const body = { type: "application/octet-stream", data };
      await client.json({ method: "PUT", path: `${path}/${sha256}?${query}`, body });
    }
  };
  await Promise.all(Array.from({ length: SINGLY_AT_ONCE }, sendNext));
  const { status } = await putManifest();
  if (status !== "committed") throw new Error(`The upload is ${status}.`);
}

/**
 * An agent of a new session searches all files of a context twice. Returns the time of both
 * searches in seconds. Throws if a search did not find `expectedMatches` lines.
 */
async function search(
  service: string,
  name: string,
  expectedMatches: number,
): Promise<{ first: number; next: number }> {
  const grep = call("grep", { pattern: WORD, path: `/contexts/${name}` });
  const providers = await startSimulatedProviders({
    models: { "bench-1": ({ callIndex }) => (callIndex < 2 ? grep : { text: "Found." }) },
  });
  try {
    await watchRun(service, searchRequest(providers, name));
    const [first, second, third] = providers.requests();
    if (!first || !second || !third) throw new Error("The agent did not search twice.");
    for (const { text } of toSituation(third.asked).toolResults) {
      const matches = text.match(new RegExp(`: ${WORD}`, "g"))?.length ?? 0;
      if (matches !== expectedMatches) throw new Error(`A search found ${matches} lines: ${text}`);
    }
    const between = (one: typeof first, next: typeof first) =>
      (next.startedAt - (one.endedAt ?? Number.NaN)) / 1_000;
    return { first: between(first, second), next: between(second, third) };
  } finally {
    await providers.close();
  }
}

const searchRequest = ({ baseUrl }: Pick<SimulatedProviders, "baseUrl">, context: string): string =>
  JSON.stringify({
    question: "Where is the needle?",
    config: {
      agents: [
        {
          id: "searcher",
          backend: {
            ...{ type: "chatcompletion", model: "bench-1", base_url: baseUrl },
            ...{ api_key: "simulated", enable_mcp_command_line: true },
          },
        },
      ],
      orchestrator: { context_paths: [{ path: context, permission: "read" }] },
    },
  });
