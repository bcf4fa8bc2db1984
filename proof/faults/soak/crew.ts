import type { FaultyService } from "../faulty-service";
import { type Failed, keepCase } from "../runs/evidence";
import type { Surroundings } from "../runs/kinds";
import { CANARY } from "../runs/left-on-disk";
import { type Host, PATIENCE as AFTER_THE_LAST_FAULT, Party, type Patience } from "../runs/party";
import { startSurroundings } from "../runs/surroundings";
import { toPlayed } from "../runs/tenant-books";
import { KEYLESS } from "../runs/tool-witness";
import type { BooksLog } from "./books-log";
import { sessionDraw } from "./draw";
import type { SoakFailure } from "./figures";
import type { Target } from "./striker";

type Options = {
  service: Pick<FaultyService, "url" | "tools" | "killedAt" | "output" | "forgetOutput">;
  books: Pick<BooksLog, "add">;
  seed: number;
  sessions: number;
  /** Plays all of it again. */
  command: string;
  /** What struck lately. */
  lately: () => readonly object[];
  /** Since when nothing is wrong any more, `performance.now()`; null: it is not so yet. */
  calmSince: () => number | null;
  onFailure: (failure: SoakFailure) => void;
  /** What a session talks to, its own alone; absent: providers and tool servers on loopback. */
  surroundings?: () => Promise<Surroundings>;
};

/**
 * While something is always wrong a run is put off again and again, and a machine that has much else to do has it take its time: it is not
 * to stand still. What waits for its rate limit does so for a minute.
 */
const UNDER_FIRE: Patience = { inAllMs: 1_800_000, quietMs: 150_000 };
/**
 * Once nothing is wrong any more none may stand still for longer than in the other campaigns (I13). But in those a few runs are on, which
 * take two seconds then, and here all of them at once ask for the one machine: for each there is as much more time until the last is over.
 */
const MORE_FOR_EACH_MS = 5_000;
const HEARD_EVERY_MS = 1_000;
/** What a failure is called that no session is to be blamed for. */
const PRINTED = "what the service prints";

/** `output`: what the service printed; absent: what is still known of that. */
type Wrong = Pick<Failed, "name" | "problems"> &
  Partial<Pick<Failed, "runs">> & { output?: string };

/** So many sessions at a time, a new one as soon as one is over. Of those that are over nothing is kept but a count. */
export class Crew {
  readonly #options: Options;
  readonly #host: Host;
  readonly #targets = new Set<Target>();
  readonly #runs = new Map<string, number>();
  readonly #playing = new Set<Promise<void>>();
  #mayBegin: Promise<void> = Promise.resolve();
  #isResting = false;
  #begun = 0;
  #failed = 0;

  constructor(options: Options) {
    this.#options = options;
    const { url, tools, killedAt } = options.service;
    // What it prints is of all of them together, and looked at here.
    this.#host = { url, tools, killedAt, output: "", forgetOutput: () => undefined };
  }

  get targets(): readonly Target[] {
    return [...this.#targets];
  }

  /** Sessions that ended, by kind. */
  get runs(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#runs);
  }

  get ended(): number {
    return [...this.#runs.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Begins sessions until it is over, and sees those that are on then to their ends, all of them. */
  async playUntil(over: AbortSignal): Promise<void> {
    const listening = setInterval(() => void this.hear(), HEARD_EVERY_MS);
    const lane = async () => {
      for (;;) {
        await this.#mayBegin;
        if (over.aborted) return;
        const one = this.#playNext();
        this.#playing.add(one);
        await one.finally(() => this.#playing.delete(one));
      }
    };
    try {
      const lanes = await Promise.allSettled(Array.from({ length: this.#options.sessions }, lane));
      for (const one of lanes) if (one.status === "rejected") throw one.reason;
    } finally {
      clearInterval(listening);
    }
  }

  /** Whether it begins none now. */
  get isResting(): boolean {
    return this.#isResting;
  }

  /** Sees those that are on to their ends, and begins no other until this is done. */
  async rest(whileNoneIsOn: () => Promise<void>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#mayBegin = promise;
    this.#isResting = true;
    try {
      await Promise.allSettled(this.#playing);
      await whileNoneIsOn();
    } finally {
      this.#isResting = false;
      resolve();
    }
  }

  /** I17, of what the service printed since it was last looked at. */
  async hear(): Promise<void> {
    const { service } = this.#options;
    const { output } = service;
    if (!output.includes(CANARY)) return;
    service.forgetOutput(); // or it would be told of again each time
    await this.fail({
      name: PRINTED,
      problems: ["I17: the service printed an agents' key"],
      output,
    });
  }

  /** Something is wrong, of a session or of none. It is told even where nothing can be kept of it. */
  async fail({
    name,
    problems: found,
    runs = [],
    output = this.#options.service.output,
  }: Wrong): Promise<void> {
    const { seed, command, lately, onFailure } = this.#options;
    const problems = [...found];
    this.#failed += 1;
    const failed = {
      name: `soak-${seed}-${this.#failed}-${name}`,
      command,
      problems,
      runs,
      story: { lately: lately() },
    };
    const folder = await keepCase(failed, { output }).catch(nowhere);
    onFailure({ name, problems, command, folder });
  }

  /** One that cannot be played is a failure of its own: the others go on. */
  async #playNext(): Promise<void> {
    const nth = this.#begun;
    this.#begun += 1;
    const drawn = sessionDraw(this.#options.seed, nth);
    const name = `session ${nth} (${drawn.kind})`;
    await this.#play(name, drawn).catch((error: unknown) =>
      this.fail({ name, problems: [String(error)] }),
    );
  }

  async #play(name: string, { kind, seed }: ReturnType<typeof sessionDraw>): Promise<void> {
    const { service, books, surroundings = startSurroundings } = this.#options;
    const providers = await surroundings(); // with a record of this session alone, which goes with it
    const party = new Party([kind], {
      service: this.#host,
      providers,
      seed,
      patience: () => this.#patience(),
    });
    const targets = party.runs.map((run) => ({ run, providers }));
    for (const target of targets) this.#targets.add(target);
    try {
      const problems = await party.verdict();
      if (problems.length > 0) await this.#tell(name, party);
      await books.add(toPlayed(party));
      this.#runs.set(kind, (this.#runs.get(kind) ?? 0) + 1);
    } finally {
      for (const target of targets) {
        this.#targets.delete(target);
        if (target.run.session !== "") service.tools.forget(`${target.run.session}_`);
      }
      await providers.close();
    }
  }

  /** Tells of what went wrong, and then has nothing of it go on that could be taken for another session's. */
  async #tell(name: string, { runs, problems, unfinished }: Party): Promise<void> {
    await this.fail({ name, problems, runs });
    if (problems.some((problem) => problem.includes(KEYLESS)))
      this.#options.service.tools.forgetKeyless();
    for (const run of unfinished)
      await run
        .erase()
        .catch((error: unknown) =>
          this.fail({ name: `the end of ${name}`, problems: [String(error)] }),
        );
  }

  #patience(): Patience {
    const since = this.#options.calmSince();
    if (since === null) return UNDER_FIRE;
    const { inAllMs, quietMs } = AFTER_THE_LAST_FAULT;
    return { inAllMs: inAllMs + this.#options.sessions * MORE_FOR_EACH_MS, quietMs, since };
  }
}

/** What is told in place of a folder where nothing could be kept. */
export const nowhere = (error: unknown): string => `no folder: ${String(error)}`;
