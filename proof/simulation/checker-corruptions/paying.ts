import { all, changes, type Corruption, withAgentRules } from "./corruptions";
import type { Row } from "./row";

const withTokenCap = (max_tokens: number): Corruption =>
  changes("turn.started", { budget: { max_tokens } });
const withCostCap = (max_cost_usd: number): Corruption =>
  changes("turn.started", { budget: { max_cost_usd } });
const withPrice = (change: object): Corruption =>
  withAgentRules({ price: { input: 1, cached_input: 0.25, output: 4, ...change } });

/** Corruptions of caps: each is wrong by one token or by a few millionths of a dollar. */
export const PAYING: readonly Row[] = [
  {
    name: "a call deferred although its tokens just fit",
    script: "budget",
    corruption: withTokenCap(16_186),
    invariant: "deferrals",
  },
  {
    name: "a call deferred although its price just fits",
    script: "budget",
    corruption: withCostCap(0.032147),
    invariant: "deferrals",
  },
  {
    name: "a call deferred although its price fits, with an expensive cache",
    script: "budget",
    corruption: all(withPrice({ cache_write: 2 }), withCostCap(0.0453)),
    invariant: "deferrals",
  },
  {
    name: "a call deferred although its price fits, with expensive long prompts",
    script: "budget",
    corruption: all(
      withPrice({ long_prompt: { above: 1_000, input: 2, cached_input: 0.5, output: 6 } }),
      withCostCap(0.0485),
    ),
    invariant: "deferrals",
  },
  {
    name: "a call deferred although its tokens fit, with attachments",
    script: "budget",
    corruption: all(
      changes("turn.started", { attachment_tokens: 100, budget: { max_tokens: 16_286 } }),
    ),
    invariant: "deferrals",
  },
  {
    name: "a call deferred although its tokens fit, with a short reply",
    script: "budget",
    corruption: all(withAgentRules({ max_output_tokens: 1_000 }), withTokenCap(16_162)),
    invariant: "deferrals",
  },
  {
    name: "a call whose reservation is a token above the cap",
    corruption: withTokenCap(18_287),
    invariant: "I11",
  },
  {
    name: "a first vote that leaves one token too few for a presentation",
    corruption: withTokenCap(10_255),
    invariant: "deferrals",
  },
  {
    name: "a last vote that leaves one token too few for a presentation",
    corruption: withTokenCap(20_447),
    invariant: "deferrals",
  },
  {
    name: "a last vote that leaves too little money for a presentation",
    corruption: withCostCap(0.064355),
    invariant: "deferrals",
  },
];

/** Correct turns whose calls just fit their cap, or just do not fit and are deferred. */
export const AT_THE_CAP: readonly { name: string; script?: string; corruption: Corruption }[] = [
  {
    name: "a call deferred because one token is missing",
    script: "budget",
    corruption: withTokenCap(16_185),
  },
  {
    name: "a call deferred because a millionth of a dollar is missing",
    script: "budget",
    corruption: withCostCap(0.032145),
  },
  {
    name: "a call deferred because of its attachments",
    script: "budget",
    corruption: changes("turn.started", { attachment_tokens: 100, budget: { max_tokens: 16_285 } }),
  },
  {
    name: "a last vote that leaves just enough tokens for a presentation",
    corruption: withTokenCap(20_448),
  },
  {
    name: "a last vote that leaves just enough money for a presentation",
    corruption: withCostCap(0.064357),
  },
];
