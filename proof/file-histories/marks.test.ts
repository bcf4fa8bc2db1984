import { expect, it } from "vitest";
import { commonMarks, knows, type Mark, mark, type Merge, mergeCopies, UNWRITTEN } from "./marks";

const first = mark("first");
const byUser = mark("user's", first);
const byTeam = mark("team's", first);
const reverted = mark("first", byUser);
const chosen = mark("user's", byUser, byTeam);

const merged = (contents: string | null) => ({ outcome: "merged", contents });
const shown = (merge: Merge) =>
  merge.outcome === "merged"
    ? { outcome: merge.outcome, contents: merge.result.contents }
    : { outcome: merge.outcome };

it.each<{ name: string; user: Mark; other: Mark; recorded?: Mark; then: object }>([
  {
    name: "an unchanged copy gets the other side's change",
    user: first,
    other: byTeam,
    then: merged("team's"),
  },
  {
    name: "a changed copy stays if the other side is unchanged",
    user: byUser,
    other: first,
    then: merged("user's"),
  },
  {
    name: "two changes of one state are a conflict",
    user: byUser,
    other: byTeam,
    then: { outcome: "conflict" },
  },
  {
    name: "two equal changes are none",
    user: byUser,
    other: mark("user's", first),
    then: merged("user's"),
  },
  {
    name: "contents that were changed back count as unchanged",
    user: reverted,
    other: byTeam,
    then: merged("team's"),
  },
  {
    name: "a later state of one copy replaces its earlier states",
    user: first,
    other: reverted,
    then: merged("first"),
  },
  {
    name: "a decided conflict is no conflict again",
    user: byUser,
    other: chosen,
    then: merged("user's"),
  },
  {
    name: "a change after a decision is taken",
    user: mark("more", chosen),
    other: byTeam,
    then: merged("more"),
  },
  {
    name: "a change without the decision conflicts with it",
    user: mark("more", byTeam),
    other: chosen,
    then: { outcome: "conflict" },
  },
  {
    name: "a deletion against a change is a conflict",
    user: mark(null, first),
    other: byTeam,
    then: { outcome: "conflict" },
  },
  {
    name: "two new files are a conflict",
    user: mark("a"),
    other: mark("b"),
    then: { outcome: "conflict" },
  },
  {
    name: "a record of another branch counts as unchanged by the user",
    user: byTeam,
    other: first,
    recorded: byTeam,
    then: merged("first"),
  },
  {
    name: "a change on top of another branch is a conflict if the branches differ",
    user: mark("more", byTeam),
    other: first,
    recorded: byTeam,
    then: { outcome: "conflict" },
  },
  {
    name: "a record that the copy has not taken does not count",
    user: byUser,
    other: byTeam,
    recorded: byTeam,
    then: { outcome: "conflict" },
  },
])("$name", ({ user, other, recorded, then }) => {
  expect(shown(mergeCopies({ user, other, recorded }))).toEqual(then);
});

it("the result of a merge knows both copies", () => {
  const merge = mergeCopies({ user: byUser, other: first });
  expect(
    merge.outcome === "merged" && [byUser, first].every((copy) => knows(merge.result, copy)),
  ).toBe(true);
});

it("several common states with different results allow either result", () => {
  const one = mark("user's", byUser, byTeam);
  const other = mark("team's", byUser, byTeam);
  expect(commonMarks(one, other)).toEqual([byUser, byTeam]);
  expect(shown(mergeCopies({ user: one, other }))).toEqual({ outcome: "either" });
  expect(commonMarks(first, mark("b"))).toEqual([UNWRITTEN]);
});
