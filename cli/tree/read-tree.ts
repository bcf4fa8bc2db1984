import { type Answer, readAnswer } from "../service/call-service";
import type { RequestContext } from "../service/problem";
import {
  type HeadFacts,
  HeadFactsSchema,
  type TreeFacts,
  TreeFactsSchema,
} from "../service/schema";

/** Requests about the tree of a session's turns. Each throws CliError. */

/** Reads all turns of a session, and its head. */
export const readTree = (session: string, context: RequestContext): Promise<Answer<TreeFacts>> =>
  readAnswer(context, TreeFactsSchema, ({ turns }) => turns.list(session));

/** Moves the head of a session. */
export const moveHead = (
  { session, turn }: { session: string; turn: number },
  context: RequestContext,
): Promise<Answer<HeadFacts>> =>
  readAnswer(context, HeadFactsSchema, ({ turns }) => turns.moveHead(session, turn));
