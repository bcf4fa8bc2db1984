import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { hashOf } from "../../../cli/contexts/scan";
import type {
  ContextManifest,
  IncludedTurn,
  LeftOutFiles,
} from "../../../src/protocol/api/contexts";

/**
 * A service that has one context and turns that change it, as the contract of contexts describes
 * them. The bytes of all files are known by their hash, so a push sends no contents.
 */

/** The hash of each file by path. */
export type Tree = ReadonlyMap<string, string>;
/** `leftOut`: the left-out files that the push sent. */
type Version = {
  readonly id: string;
  readonly tree: Tree;
  includes: readonly IncludedTurn[];
  readonly leftOut: LeftOutFiles;
};
type Turn = {
  session: string;
  turn: number;
  parent: number | null;
  version: Version;
  /** The session's entry of the version's record at the start of the turn. */
  entry: IncludedTurn | null;
  tree: Tree;
};
export type Conflict = { path: string };

const contents = new Map<string, string>();
/** The hash of a text, whose bytes the service then has. */
export function hashOfText(text: string): string {
  const hash = hashOf(Buffer.from(text));
  contents.set(hash, text);
  return hash;
}
export const textOfHash = (hash: string): string => contents.get(hash) ?? "";

const NAME = "site";
const versionId = (index: number): string => String(index).padStart(26, "0");

export class ContractService {
  readonly versions: Version[] = [];
  readonly turns: Turn[] = [];
  /** Runs after a push is stored and before it is answered. `null`: nothing. */
  beforePushAnswer: (() => Promise<void>) | null = null;
  /** Runs before the first contents are sent. `null`: nothing. */
  beforeContents: (() => Promise<void>) | null = null;
  readonly #server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", async () => {
      const answer = this.#answer(request.method ?? "", request.url ?? "", body);
      await this.#runBefore(request.method ?? "", answer);
      response.writeHead(answer.status, { "Content-Type": answer.type ?? "application/json" });
      response.end(typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body));
    });
  });

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /**
   * Starts and completes a turn. `work` changes the state. Returns the conflicts; then there is no
   * turn. `winner`: the side that wins conflicts.
   */
  ask(
    session: string,
    {
      parent,
      work,
      winner,
    }: {
      parent: number | null;
      work: (tree: Map<string, string>) => void;
      winner?: "turn" | "upload";
    },
  ): Conflict[] {
    const version = this.versions.at(-1);
    if (!version) throw new Error("There is no version yet.");
    const entry = version.includes.find((one) => one.session === session) ?? null;
    const from = parent === null ? null : this.turn(session, parent);
    const { tree, conflicts } = from
      ? this.#merged(from, { version, entry }, winner)
      : { tree: new Map(version.tree), conflicts: [] };
    if (conflicts.length > 0) return conflicts;
    work(tree);
    const turn = this.turns.filter((one) => one.session === session).length + 1;
    this.turns.push({ session, turn, parent, version, entry, tree });
    return [];
  }

  turn(session: string, number: number): Turn {
    const found = this.turns.find((one) => one.session === session && one.turn === number);
    if (!found) throw new Error(`There is no turn ${number} of ${session}.`);
    return found;
  }

  #merged(
    from: Turn,
    { version, entry }: { version: Version; entry: IncludedTurn | null },
    winner: "turn" | "upload" | undefined,
  ): { tree: Map<string, string>; conflicts: Conflict[] } {
    const isSeen = from.entry?.turn === entry?.turn;
    if (version.id === from.version.id && isSeen)
      return { tree: new Map(from.tree), conflicts: [] };
    const recorded = entry && !isSeen ? this.turn(from.session, entry.turn) : null;
    const base = new Map(recorded?.tree ?? from.version.tree);
    if (recorded) {
      for (const { path, sha256 } of entry?.bases ?? []) setOrDelete(base, path, sha256);
      // what the user pushed between the recorded turn and the parent turn is in both sides
      const [before, after] = [recorded.version, from.version];
      for (const path of after.id > before.id ? [...before.tree.keys(), ...after.tree.keys()] : [])
        if (after.tree.get(path) !== before.tree.get(path))
          setOrDelete(base, path, after.tree.get(path) ?? null);
    }
    const leftOut = new Set(entry?.left_out ?? []);
    const tree = new Map<string, string>();
    const conflicts: Conflict[] = [];
    for (const path of new Set([...base.keys(), ...from.tree.keys(), ...version.tree.keys()])) {
      const [ours, theirs] = [from.tree.get(path), version.tree.get(path)];
      const isTheirs = !leftOut.has(path) && ours === base.get(path);
      const isOurs = leftOut.has(path) || theirs === base.get(path) || ours === theirs;
      const side = isOurs ? ours : isTheirs || winner === "upload" ? theirs : ours;
      if (!isOurs && !isTheirs && winner === undefined) conflicts.push({ path });
      if (side !== undefined) tree.set(path, side);
    }
    return { tree, conflicts };
  }

  #answer(method: string, url: string, body: string): Answer {
    const [path = "", query = ""] = url.split("?");
    if (path === `/api/contexts/${NAME}`)
      return method === "PUT"
        ? this.#put(JSON.parse(body))
        : this.#show(new URLSearchParams(query).get("version"));
    const [, session = "", turn = "", blob] =
      /^\/api\/sessions\/([^/]+)\/turns\/(\d+)\/changes(?:\/blobs\/(\w+))?$/.exec(path) ?? [];
    if (blob) return { status: 200, type: "application/octet-stream", body: textOfHash(blob) };
    if (session) return this.#changes(session, Number(turn));
    const [, file] = /^\/api\/contexts\/site\/files\/(.+)$/.exec(path) ?? [];
    if (file) {
      const version = this.versions.find(
        ({ id }) => id === new URLSearchParams(query).get("version"),
      );
      return {
        status: 200,
        type: "application/octet-stream",
        body: textOfHash(version?.tree.get(decodeURIComponent(file)) ?? ""),
      };
    }
    const [, id] = /^\/api\/sessions\/([^/]+)$/.exec(path) ?? [];
    if (id)
      return {
        status: 200,
        body: {
          turns: this.turns
            .filter((one) => one.session === id)
            .map(({ turn: number, parent }) => ({ turn: number, parent_turn: parent })),
        },
      };
    return problem(404, "not_found");
  }

  async #runBefore(method: string, { type }: Answer): Promise<void> {
    const [push, contentsAct] = [this.beforePushAnswer, this.beforeContents];
    if (method === "PUT" && push) {
      this.beforePushAnswer = null;
      await push();
    }
    if (type === "application/octet-stream" && contentsAct) {
      this.beforeContents = null;
      await contentsAct();
    }
  }

  #put({
    files,
    base_version: base,
    includes = [],
    left_out: leftOut = [],
  }: ContextManifest): Answer {
    const tree = new Map(files.map(({ path, sha256 }) => [path, sha256]));
    const newest = this.versions.at(-1) ?? null;
    const isEqual = newest !== null && sameTree(newest.tree, tree);
    if (!isEqual && base !== undefined && base !== (newest?.id ?? null))
      return problem(409, "context_changed");
    const inherited = (isEqual ? newest : this.versions.find(({ id }) => id === base))?.includes;
    const named = new Set(includes.map(({ session }) => session));
    const record = [...(inherited ?? []).filter(({ session }) => !named.has(session)), ...includes];
    if (isEqual) newest.includes = record;
    else
      this.versions.push({ id: versionId(this.versions.length), tree, includes: record, leftOut });
    const version = this.versions.at(-1);
    return {
      status: isEqual ? 200 : 201,
      body: {
        ...entryOf(version?.id ?? ""),
        status: isEqual ? "unchanged" : "committed",
        missing: [],
        skipped: [],
        links: { context: "", blobs: "" },
      },
    };
  }

  #show(id: string | null): Answer {
    const version = id === null ? this.versions.at(-1) : this.versions.find((one) => one.id === id);
    if (!version) return problem(404, "context_not_found");
    const tree = [...version.tree].map(([path, sha256]) => ({ path, sha256, size: 1 }));
    return { status: 200, body: { ...entryOf(version.id), tree, includes: version.includes } };
  }

  #changes(session: string, number: number): Answer {
    const { version, tree } = this.turn(session, number);
    const paths = [...new Set([...version.tree.keys(), ...tree.keys()])].sort();
    const changes = paths
      .filter((path) => version.tree.get(path) !== tree.get(path))
      .map((path) => ({ path, hash: tree.get(path) ?? null, size: 1 }));
    const data = [{ context: NAME, base_version: version.id, changes }];
    return { status: 200, body: { object: "list", data } };
  }
}

function setOrDelete(tree: Map<string, string>, path: string, hash: string | null): void {
  if (hash === null) tree.delete(path);
  else tree.set(path, hash);
}

type Answer = { status: number; type?: string; body: unknown };
const problem = (status: number, code: string): Answer => ({
  status,
  type: "application/problem+json",
  body: { type: "about:blank", title: code, status, code },
});
const entryOf = (version: string) => ({
  name: NAME,
  version,
  files: 1,
  bytes: 1,
  created_at: 1,
  links: { context: "", archive: "" },
});
const sameTree = (one: Tree, other: Tree): boolean =>
  one.size === other.size && [...one].every(([path, hash]) => other.get(path) === hash);
