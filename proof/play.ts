import { type Campaign, nameOf } from "./campaigns";
import type { CampaignResult } from "./campaign-results";
import { Mutex } from "../src/async/mutex";

/** Side effects of playing campaigns. A lane awaits each call before its next campaign. */
export type PlayEffects = {
  play: (campaign: Campaign) => Promise<CampaignResult>;
  /**
   * Stores the results of all finished campaigns after each campaign, so an interruption loses only
   * the running campaigns. Calls never overlap.
   */
  store: (done: readonly CampaignResult[]) => Promise<void>;
  /** Called once for each campaign that was played, not for campaigns that had passed earlier. */
  onPlayed: (result: CampaignResult) => Promise<void>;
  print: (line: string) => void;
};

/**
 * Plays campaigns in `lanes` parallel lanes, then the timed campaigns one after another. If there
 * are several lanes, campaigns that mostly wait have one more lane. Skips campaigns that
 * `earlierResults` lists as passed. Returns the results in the order of `wanted`.
 */
export async function playAll(
  wanted: readonly Campaign[],
  earlierResults: readonly CampaignResult[],
  { play, store, onPlayed, print }: PlayEffects,
  lanes = 1,
): Promise<CampaignResult[]> {
  const done = earlierResults.filter(({ failed }) => failed === 0);
  const results = new Map(done.map((result) => [result.campaign, result]));
  const ledger = new Mutex();
  const isPending = (campaign: Campaign) => {
    const earlier = results.get(nameOf(campaign));
    if (earlier) print(`✓ ${earlier.campaign} passed on this commit at ${earlier.at}`);
    return !earlier;
  };
  const finish = async (result: CampaignResult): Promise<void> => {
    const release = await ledger.acquire();
    try {
      results.set(result.campaign, result);
      done.push(result);
      await store(done);
      await onPlayed(result);
      print(lineOf(result));
    } finally {
      release();
    }
  };
  const pending = wanted.filter(isPending);
  const playNext = async (campaigns: Iterator<Campaign>): Promise<void> => {
    for (let next = campaigns.next(); !next.done; next = campaigns.next())
      await finish(await play(next.value));
  };
  const playInLanes = async (campaigns: readonly Campaign[], count: number): Promise<void> => {
    const queue = campaigns.values();
    await Promise.all(Array.from({ length: count }, () => playNext(queue)));
  };
  const untimed = pending.filter(({ isTimed }) => !isTimed);
  const waiting = lanes === 1 ? [] : untimed.filter(({ isWaiting }) => isWaiting);
  await Promise.all([
    playInLanes(
      untimed.filter((campaign) => !waiting.includes(campaign)),
      lanes,
    ),
    playInLanes(waiting, 1),
  ]);
  await playInLanes(
    pending.filter(({ isTimed }) => isTimed),
    1,
  );
  return wanted.flatMap((campaign) => results.get(nameOf(campaign)) ?? []);
}

const lineOf = ({ campaign, passed, failed, seconds, counts }: CampaignResult): string =>
  `${failed === 0 ? "✓" : "✗"} ${campaign}: ${passed} passed, ${failed} failed (${seconds} s; ${counts})`;
