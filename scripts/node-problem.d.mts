export function nodeProblem(version: string, platform: string): string | null;
