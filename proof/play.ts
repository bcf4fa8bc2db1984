import { type Campaign, nameOf } from "./campaigns";
import type { CampaignResult } from "./campaign-results";

/** Side effects of playing campaigns. Each call is awaited before the next campaign begins. */
export type Playing = {
  play: (campaign: Campaign) => Promise<CampaignResult>;
  /**
   * Stores the finished campaigns, before the next one begins: an interruption loses only the
   * running one.
   */
  keep: (done: readonly CampaignResult[]) => Promise<void>;
  /**
   * Called once for each campaign that was played now, not for campaigns that had passed before.
   */
  onPlayed: (result: CampaignResult) => Promise<void>;
  print: (line: string) => void;
};

/**
 * Plays campaigns one after another and skips those that `before` names as passed. Returns a result
 * for each of `wanted`.
 */
export async function playAll(
  wanted: readonly Campaign[],
  before: readonly CampaignResult[],
  { play, keep, onPlayed, print }: Playing,
): Promise<CampaignResult[]> {
  const passed = (name: string) =>
    before.find(({ campaign, failed }) => campaign === name && failed === 0);
  const done = before.filter(({ failed }) => failed === 0);
  const results: CampaignResult[] = [];
  for (const campaign of wanted) {
    const earlier = passed(nameOf(campaign));
    if (earlier) {
      print(`✓ ${earlier.campaign} passed on this commit at ${earlier.at}`);
      results.push(earlier);
      continue;
    }
    const result = await play(campaign);
    results.push(result);
    done.push(result);
    await keep(done);
    await onPlayed(result);
    const { campaign: name, passed: good, failed, seconds, counts } = result;
    print(
      `${failed === 0 ? "✓" : "✗"} ${name}: ${good} passed, ${failed} failed (${seconds} s; ${counts})`,
    );
  }
  return results;
}
