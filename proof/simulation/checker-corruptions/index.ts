import { ANSWERING } from "./answering";
import { ENDING } from "./ending";
import { HOSTING } from "./hosting";
import { PAYING } from "./paying";
import { PROMISES } from "./promises";
import { QUEUEING } from "./queueing";
import type { Row } from "./row";
import { RULES } from "./rules";
import { SETTLING } from "./settling";
import { SHOWING } from "./showing";
import { REPLACING } from "./replacing";
import { SUMMARISING } from "./summarising";
import { TEAMS } from "./teams";
import { TRYING } from "./trying";
import { VOTING } from "./voting";
import { WORKING } from "./working";

/** Every corruption whose violations are recorded, in the order of `violations.txt`. */
export const CORRUPTIONS: readonly Row[] = [
  ...PROMISES,
  ...RULES,
  ...ANSWERING,
  ...VOTING,
  ...SHOWING,
  ...WORKING,
  ...HOSTING,
  ...ENDING,
  ...SETTLING,
  ...TRYING,
  ...PAYING,
  ...REPLACING,
  ...TEAMS,
  ...QUEUEING,
  ...SUMMARISING,
];
