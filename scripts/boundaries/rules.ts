/**
 * Which file may import which. Every rule looks at resolved paths, so no way of writing an import gets around it, and type-only
 * imports count: they are dependencies of the reader. Test code may import anything; production code may not import test code.
 */
import { type Edge, edgesOf, type SourceTree } from './source-tree.ts';

export interface Rule {
  name: string;
  /** Says what is wrong with this import, or nothing. */
  check(edge: Edge, tree: SourceTree): string | undefined;
}
const SERVER = 'packages/server/src/';

/** A package imports only the packages in its list. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  catalog: ['core'],
  collector: ['core', 'catalog'],
  console: ['core', 'catalog'],
  server: ['core', 'catalog', 'collector', 'console'],
  cli: ['server', 'core'],
};
/** Packages that also run in a browser. The collector's builder runs in Node. */
const WITHOUT_NODE = /^packages\/(core|catalog|collector)\/src\//;

/** The server from the ground up: folders, and files of its own. A part imports only parts of lower floors, so nothing reaches back. */
const SERVER_FLOORS: readonly (readonly string[])[] = [
  ['event-head'],
  ['runtime', 'network', 'version', 'partition', 'event-record', 'channels'],
  ['config', 'secrets'],
  ['stores'],
  ['snapshot', 'outbound', 'sandbox', 'http', 'telemetry', 'rate-limits', 'partition-leases'],
  ['outcomes'],
  ['tap', 'collector', 'intake', 'transports'],
  ['operations'],
  ['roles'],
  ['listeners', 'openapi-paths', 'lifecycle', 'greeting', 'database-start', 'local-configuration', 'event-roles', 'shared-parts'],
  ['management-role'],
  ['background', 'management'],
  ['main'],
];
/** Files that choose or implement a storage engine. The rest of the server knows the ports, the queries, and which errors are outages. */
const STORE_DRIVERS = [
  /^packages\/server\/src\/stores\/(event-log|leases|visitors|ephemeral)\/(?!port\.ts$)/,
  /^packages\/server\/src\/stores\/config\/(open|sqlite|postgres|migrate|migrations\/.*)\.ts$/,
  /^packages\/server\/src\/stores\/observe\/(open|sqlite-writer)\.ts$/,
  /^packages\/server\/src\/stores\/(?!outages\.ts$)[^/]+\.ts$/,
];
/** `main.ts` for the process, `background/` and `management/` for their threads, `row-writer-thread.ts` for its own; commands work on a stopped installation's files. */
const MAY_NAME_DRIVERS =
  /^packages\/server\/src\/(stores\/|main\.ts$|background\/|management\/|outcomes\/row-writer-thread\.ts$)|^packages\/cli\//;

const TEST_CODE = /\.test\.tsx?$|\.(e2e|browser)\.ts$|\/(testing|test|conformance)\/|^(attack|e2e|bench|scripts|examples)\//;
const TEST_LIKE_NAME = /\/test(ing)?[.-][^/]*$|-(child|test|testing)\.ts$/;

export const RULES: readonly Rule[] = [
  {
    name: 'imports are resolvable',
    check: ({ to }, { exists }) => {
      if (to.kind === 'unknown') return `cannot resolve ${to.specifier}; write the file's path as a literal`;
      return to.kind === 'file' && /\.tsx?$/.test(to.path) && !to.path.endsWith('.d.ts') && !exists(to.path)
        ? `there is no file ${to.path}`
        : undefined;
    },
  },
  {
    name: 'packages import only downwards',
    check: production(({ from, to }) => {
      const [own, other] = [packageOf(from), packageOf(to.path)];
      if (own === undefined) return undefined;
      if (other === undefined) return `package ${own} imports ${to.path}, which is outside of packages/`;
      return own === other || MAY_IMPORT[own]?.includes(other) ? undefined : `package ${own} must not import ${other}`;
    }),
  },
  {
    name: 'packages declare what they import',
    check: ({ from, to }, { packages }) => {
      const own = packageOf(from);
      if (to.kind !== 'package' || own === undefined || isTestCode(from)) return undefined;
      return packages.get(own)?.dependencies.has(to.name) ? undefined : `${to.name} is not declared in packages/${own}/package.json`;
    },
  },
  {
    name: 'core runs without Node',
    check: ({ from, to }) =>
      to.kind === 'node' && WITHOUT_NODE.test(from) && !isTestCode(from)
        ? 'this code also runs in a browser: it must not import Node modules'
        : undefined,
  },
  {
    name: 'production code does not import test code',
    check: production(({ to }) => (isTestCode(to.path) ? `${to.path} is test code` : undefined)),
  },
  {
    name: 'roles do not import roles',
    check: production(({ from, to }) => {
      const [own, other] = [roleOf(from), roleOf(to.path)];
      return own !== undefined && other !== undefined && own !== other ? `role ${own} must not import role ${other}` : undefined;
    }),
  },
  {
    name: 'only stores and main.ts name a store driver',
    check: production(({ from, to }) =>
      isStoreDriver(to.path) && !MAY_NAME_DRIVERS.test(from) ? `${to.path} is a store driver; import its port instead` : undefined,
    ),
  },
  {
    name: 'the server imports only downwards',
    check: production(({ from, to }) => {
      if (!from.startsWith(SERVER) || !to.path.startsWith(SERVER)) return undefined;
      const [own, other] = [serverPart(from), serverPart(to.path)];
      if (own === other) return undefined;
      const [floor, otherFloor] = [floorOf(own), floorOf(other)];
      if (floor < 0 || otherFloor < 0) return `${floor < 0 ? own : other} has no place in SERVER_FLOORS (scripts/boundaries/rules.ts)`;
      return otherFloor < floor ? undefined : `${own} must not import ${other}, which is not below it`;
    }),
  },
];

export interface Violation {
  rule: string;
  from: string;
  line: number;
  message: string;
}
export const NAMING_RULE = 'test helpers live in testing/';
export const CYCLE_RULE = 'no import cycles';

export function violations(tree: SourceTree): Violation[] {
  const edges = edgesOf(tree);
  const imports = edges.flatMap((edge) =>
    RULES.flatMap(({ name, check }) => {
      const message = check(edge, tree);
      return message === undefined ? [] : [{ rule: name, from: edge.from, line: edge.line, message }];
    }),
  );
  const misnamed = [...tree.files.keys()].filter((path) => TEST_LIKE_NAME.test(path) && !isTestCode(path));
  const message = 'the name reads like a test helper: move it to a testing/ folder, or rename production code';
  return [...imports, ...misnamed.map((from) => ({ rule: NAMING_RULE, from, line: 1, message })), ...cycles(edges)];
}

/** Each import that leads back to its file. With a cycle, one of the files runs before what it imports is there. */
function cycles(edges: Edge[]): Violation[] {
  const next = new Map<string, { to: string; line: number }[]>();
  for (const { from, line, loadsFirst, to } of edges) {
    if (!loadsFirst || to.kind !== 'file') continue;
    const own = next.get(from) ?? [];
    own.push({ to: to.path, line });
    next.set(from, own);
  }
  const found: Violation[] = [];
  const done = new Set<string>();
  const path: string[] = [];
  const walk = (from: string) => {
    path.push(from);
    for (const { to, line } of next.get(from) ?? []) {
      const at = path.indexOf(to);
      if (at >= 0) found.push({ rule: CYCLE_RULE, from, line, message: `imports in a circle: ${[...path.slice(at), to].join(' → ')}` });
      else if (!done.has(to)) walk(to);
    }
    path.pop();
    done.add(from);
  };
  for (const from of next.keys()) if (!done.has(from)) walk(from);
  return found;
}

type FileEdge = Edge & { to: { kind: 'file'; path: string } };
/** Applies a check to imports of files by production code. */
function production(check: (edge: FileEdge) => string | undefined): Rule['check'] {
  return (edge) => (edge.to.kind === 'file' && !isTestCode(edge.from) ? check(edge as FileEdge) : undefined);
}
export function isTestCode(path: string): boolean {
  return TEST_CODE.test(path);
}
function isStoreDriver(path: string): boolean {
  return STORE_DRIVERS.some((driver) => driver.test(path));
}
function packageOf(path: string): string | undefined {
  return /^packages\/([^/]+)\//.exec(path)?.[1];
}
function roleOf(path: string): string | undefined {
  return /^packages\/server\/src\/roles\/([^/]+)\//.exec(path)?.[1];
}
function serverPart(path: string): string {
  return /^[^/.]+/.exec(path.slice(SERVER.length))?.[0] ?? '';
}
function floorOf(part: string): number {
  return SERVER_FLOORS.findIndex((floor) => floor.includes(part));
}
