import { describe, expect, it } from "vitest";
import { createApp } from "../../src/api/app";
import { createEmptyApp } from "../../src/api/empty-app";
import { documentedOperations } from "../../src/api/routes";
import { routesOnDemand } from "../../src/worker/route-groups";
import { OPEN_SERVICE } from "../builders/open-service";

const namesOf = (app: ReturnType<typeof createApp>): string[] =>
  documentedOperations(app).map(({ method, path }) => `${method} ${path}`);

const ALL = documentedOperations(createApp());
const concrete = (path: string): string => path.replaceAll(/\{\w+\}/g, "x");

describe("routes on demand", () => {
  it.each(ALL)("a first request to $method $path finds the route", async ({ path, method }) => {
    const app = createEmptyApp();
    await routesOnDemand(app)(concrete(path));
    expect(namesOf(app)).toContain(`${method} ${path}`);
    expect(namesOf(app).length).toBeLessThan(ALL.length);
  });

  it("are the routes of the whole API, each once, also after concurrent requests", async () => {
    const app = createEmptyApp();
    const addRoutesOf = routesOnDemand(app);
    const paths = ALL.map(({ path }) => concrete(path));
    await Promise.all([...paths, ...paths].map(addRoutesOf));
    expect(namesOf(app).sort()).toEqual(namesOf(createApp()).sort());
  });

  it.each(["/", "/api", "/api/runsheet", "/healthzz"])("%s has none", async (path) => {
    const app = createEmptyApp();
    await routesOnDemand(app)(path);
    expect(namesOf(app)).toEqual([]);
  });

  it("can be added after the first request", async () => {
    const app = createEmptyApp();
    const addRoutesOf = routesOnDemand(app);
    const health = () => app.fetch(new Request("http://127.0.0.1/healthz"), OPEN_SERVICE);
    await addRoutesOf("/api/keys");
    expect((await health()).status).toBe(404);
    await addRoutesOf("/healthz");
    expect((await health()).status).toBe(200);
  });
});
