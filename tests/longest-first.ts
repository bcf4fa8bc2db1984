import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Test files that take a minute or more, mostly for waiting. If such a file started last, it would
 * run alone at the end.
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
 * Runs the long files of each project first, then the other files in vitest's order. In a new
 * clone, vitest knows no durations and orders the files by size.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const filesByProject = Map.groupBy(sorted, ({ project }) => project.name);
    return [...filesByProject.values()].flatMap((projectFiles) => [
      ...projectFiles.filter(isLong),
      ...projectFiles.filter((file) => !isLong(file)),
    ]);
  }
}

const isLong = ({ moduleId }: TestSpecification): boolean =>
  LONG.some((file) => moduleId.endsWith(`/${file}`));
