import fc from "fast-check";
import { expect, it } from "vitest";
import { ContractService, hashOfText, textOfHash } from "./contract-service";
import { LinkedFolder } from "./linked-folder";

/**
 * Random histories in which the user and the turns never change the same file. The sides have
 * their own files, and also files that git ignores. So no turn and no pull may report a conflict,
 * and each side's files must arrive at the other side.
 */

const SESSIONS = ["session_01jdtesta000000000000000", "session_01jdtestb000000000000000"] as const;
type Session = 0 | 1;
const OWN_FILES: readonly (readonly string[])[] = [
  ["team/a0", "team/a1", "dist/a2", "swap"],
  ["other/b0", "other/b1", "dist/b2", "other/b3"],
];
const USER_FILES = ["u0", "src/u1", "src/u2", "dist/u3"];
const isIgnored = (path: string): boolean => path.startsWith("dist/");

type Operation =
  | { kind: "ask"; session: Session; edits: Edit[] }
  | { kind: "pull"; session: Session }
  | { kind: "edit"; edits: Edit[] }
  | { kind: "push" };
/** `file`: an index into the side's files. */
type Edit = { file: number; isDeleted: boolean };

const edits = fc.array(fc.record({ file: fc.nat(3), isDeleted: fc.boolean() }), { maxLength: 3 });
const session = fc.constantFrom<Session>(0, 1);
const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({ kind: fc.constant("ask" as const), session, edits }),
  fc.record({ kind: fc.constant("pull" as const), session }),
  fc.record({ kind: fc.constant("edit" as const), edits }),
  fc.record({ kind: fc.constant("push" as const) }),
);

class History {
  #count = 0;
  readonly #userFiles = new Map<string, string>();
  /** The files of each session's turns, by number. */
  readonly #turns: [Map<string, string>[], Map<string, string>[]] = [[], []];
  /** The files of each session's turn that the folder has pulled last. */
  readonly #pulled: [Map<string, string>, Map<string, string>] = [new Map(), new Map()];
  /** The user's files in the newest version. */
  #pushed = new Map<string, string>();

  constructor(
    private readonly service: ContractService,
    private readonly folder: LinkedFolder,
  ) {}

  async perform(operation: Operation): Promise<void> {
    switch (operation.kind) {
      case "ask":
        return this.#ask(operation);
      case "pull":
        return this.#pull(operation);
      case "edit":
        return this.#edit(operation.edits);
      case "push":
        return this.push();
    }
  }

  async push(): Promise<void> {
    await this.folder.push();
    this.#pushed = new Map([...this.#userFiles].filter(([path]) => !isIgnored(path)));
  }

  async #edit(edits: readonly Edit[]): Promise<void> {
    for (const { file, isDeleted } of edits) {
      const path = USER_FILES[file] ?? "u0";
      const text = isDeleted ? null : this.#text("user");
      await this.folder.edit({ [path]: text });
      if (text === null) this.#userFiles.delete(path);
      else this.#userFiles.set(path, text);
    }
  }

  #ask({ session, edits }: Extract<Operation, { kind: "ask" }>): void {
    const turns = this.#turns[session];
    const parent = turns.length === 0 ? null : turns.length;
    const files = new Map(parent === null ? [] : turns[parent - 1]);
    const conflicts = this.service.ask(SESSIONS[session], {
      parent,
      work: (tree) => {
        for (const [path, hash] of tree)
          if (this.#sideOf(path) === "user") expect(textOfHash(hash)).toBe(this.#pushed.get(path));
        const named = [...tree.keys()].filter((path) => this.#sideOf(path) === session);
        expect(named.sort()).toEqual([...files.keys()].sort());
        for (const path of this.#pushed.keys()) expect(tree.has(path)).toBe(true);
        for (const { file, isDeleted } of edits) this.#change(files, session, { file, isDeleted });
        for (const path of named) tree.delete(path);
        for (const [path, text] of files) tree.set(path, hashOfText(text));
      },
    });
    expect(conflicts).toEqual([]);
    turns.push(files);
  }

  /** Changes a file of the session. The file `swap` becomes a folder, or a file again. */
  #change(files: Map<string, string>, session: Session, { file, isDeleted }: Edit): void {
    const path = OWN_FILES[session]?.[file] ?? "team/a0";
    const inner = `${path}/inner`;
    const wasFile = files.has(path);
    files.delete(path);
    files.delete(inner);
    if (isDeleted) return;
    files.set(path === "swap" && wasFile ? inner : path, this.#text(`team ${session}`));
  }

  async #pull({ session }: Extract<Operation, { kind: "pull" }>): Promise<void> {
    const turns = this.#turns[session];
    const latest = turns.at(-1);
    if (!latest) return;
    const { code, stdout } = await this.folder.pull(SESSIONS[session], turns.length, "--apply");
    expect([code, stdout]).toEqual([0, expect.not.stringContaining("conflict")]);
    this.#pulled[session] = latest;
    await this.check();
  }

  /** The folder has the user's files, and the pulled turns' files that git does not ignore. */
  async check(): Promise<void> {
    const files = await this.folder.files();
    const teams = this.#pulled.flatMap((pulled) =>
      [...pulled].filter(([path]) => !isIgnored(path)),
    );
    expect(files).toEqual({
      ".gitignore": "dist/\n",
      start: "start",
      ...Object.fromEntries(this.#userFiles),
      ...Object.fromEntries(teams),
    });
  }

  #text(side: string): string {
    this.#count += 1;
    return `${side} ${this.#count}`;
  }

  #sideOf(path: string): "user" | Session | "none" {
    if (USER_FILES.includes(path)) return "user";
    const index = OWN_FILES.findIndex((files) =>
      files.some((file) => path === file || path === `${file}/inner`),
    );
    return index === 0 || index === 1 ? index : "none";
  }
}

it("histories in which the sides never change one file have no conflict, and lose nothing", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 4, maxLength: 24 }), async (operations) => {
      await using service = await new ContractService().start();
      await using folder = await LinkedFolder.create(service.url);
      await folder.edit({ ".gitignore": "dist/\n", start: "start" });
      const history = new History(service, folder);
      await history.push();
      for (const next of operations) await history.perform(next);
      await history.check();
    }),
    { numRuns: 150 },
  );
}, 120_000);
