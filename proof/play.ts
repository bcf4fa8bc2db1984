import { type Campaign, nameOf } from "./campaigns";
import type { CampaignResult } from "./campaign-results";
import { Mutex } from "../src/async/mutex";

/** Side effects of playing campaigns. A lane awaits each call before its next campaign. */
export type PlayEffects = {
  play: (campaign: Campaign) => Promise<CampaignResult>;
  /**
   * Stores the finished campaigns, before the next one of the lane begins: an interruption loses
   * only the running ones. Never called twice at once.
   */
  keep: (done: readonly CampaignResult[]) => Promise<void>;
  /**
   * Called once for each campaign that was played now, not for campaigns that had passed before.
   */
  onPlayed: (result: CampaignResult) => Promise<void>;
  print: (line: string) => void;
};

/**
 * Plays campaigns in parallel `lanes`, then those that measure times one after another. If there
 * are several lanes, campaigns that mostly wait have one more lane. Skips campaigns that `before`
 * lists as passed. Returns a result for each of `wanted`, in that order.
 */
export async function playAll(
  wanted: readonly Campaign[],
  before: readonly CampaignResult[],
  { play, keep, onPlayed, print }: PlayEffects,
  lanes = 1,
): Promise<CampaignResult[]> {
  const done = before.filter(({ failed }) => failed === 0);
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
      await keep(done);
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
  const playSide = async (campaigns: readonly Campaign[], count: number): Promise<void> => {
    const queue = campaigns.values();
    await Promise.all(Array.from({ length: count }, () => playNext(queue)));
  };
  const untimed = pending.filter(({ isTimed }) => !isTimed);
  const waiting = lanes === 1 ? [] : untimed.filter(({ isWaiting }) => isWaiting);
  await Promise.all([
    playSide(
      untimed.filter((campaign) => !waiting.includes(campaign)),
      lanes,
    ),
    playSide(waiting, 1),
  ]);
  await playSide(
    pending.filter(({ isTimed }) => isTimed),
    1,
  );
  return wanted.flatMap((campaign) => results.get(nameOf(campaign)) ?? []);
}

const lineOf = ({ campaign, passed, failed, seconds, counts }: CampaignResult): string =>
  `${failed === 0 ? "✓" : "✗"} ${campaign}: ${passed} passed, ${failed} failed (${seconds} s; ${counts})`;
