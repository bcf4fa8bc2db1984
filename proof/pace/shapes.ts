import type { Member, PacedTeam } from "./paced-team";

/** A team whose members differ in speed. `name` describes it without its size. */
export type Shape = { name: string; members: readonly Member[] };

const USUAL: Member = { answer: 1, later: 1 };

const times = (count: number, member: Member): Member[] =>
  Array.from({ length: count }, () => member);

export const equalTeam = (size: number): Member[] => times(size, USUAL);

/** Uneven teams of this size. A slow agent is slow in all of its calls, if nothing else is said. */
export function unevenTeams(size: number): Shape[] {
  const half = Math.floor(size / 2);
  const oneOf = (other: Member, usual = USUAL): Member[] => [...times(size - 1, usual), other];
  const halfOf = (other: Member): Member[] => [...times(size - half, USUAL), ...times(half, other)];
  const improver: Member = { ...USUAL, improves: true };
  return [
    { name: "one takes 2 times as long", members: oneOf({ answer: 2, later: 2 }) },
    { name: "one takes 5 times as long", members: oneOf({ answer: 5, later: 5 }) },
    { name: "one answers in 1.6 times, votes as fast", members: oneOf({ answer: 1.6, later: 1 }) },
    { name: "one answers in 5 times, votes as fast", members: oneOf({ answer: 5, later: 1 }) },
    { name: "one takes 0.3 times as long", members: oneOf({ answer: 0.3, later: 0.3 }) },
    { name: "half take 2 times as long", members: halfOf({ answer: 2, later: 2 }) },
    { name: "half answer in 2 times, vote as fast", members: halfOf({ answer: 2, later: 1 }) },
    {
      name: "each a little slower, up to 2 times",
      members: Array.from({ length: size }, (_, place) => {
        const factor = 1 + place / (size - 1);
        return { answer: factor, later: factor };
      }),
    },
    { name: "all answer twice", members: times(size, improver) },
    {
      name: "all but one answer twice, this one takes 3 times as long",
      members: oneOf({ answer: 3, later: 3 }, improver),
    },
    {
      name: "one fails after 1.5 times",
      members: oneOf({ answer: 1.5, later: 1, fails: true }),
    },
    { name: "one fails after 4 times", members: oneOf({ answer: 4, later: 1, fails: true }) },
  ];
}

/** The service starts about 250 calls of a session in a second. */
const START_MS = 4;

export const paced = (members: readonly Member[], callMs: number, jitter: number): PacedTeam => ({
  members,
  callMs,
  jitter,
  startMs: START_MS,
});
