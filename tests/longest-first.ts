import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Files that take a minute or more, mostly waiting. Started last, each of them would run alone at
 * the end of its project.
 */
const LONG = [
  "tests/durable-objects/session/calls/compaction.workers.test.ts",
  "tests/e2e/long-work.process.test.ts",
  "tests/e2e/rate-limit-restart.process.test.ts",
  "tests/e2e/slots.process.test.ts",
  "tests/e2e/service.process.test.ts",
  "tests/e2e/demo-ends.process.test.ts",
  "tests/e2e/tool-servers.process.test.ts",
];

/**
 * Runs the long files of each project first, then the others in vitest's order: a clean clone has
 * no record of durations, so vitest would order by file size.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const inOrder = await super.sort(files);
    const ofProject = Map.groupBy(inOrder, ({ project }) => project.name);
    return [...ofProject.values()].flatMap((group) => [
      ...group.filter(isLong),
      ...group.filter((file) => !isLong(file)),
    ]);
  }
}

const isLong = ({ moduleId }: TestSpecification): boolean =>
  LONG.some((file) => moduleId.endsWith(`/${file}`));
