import { posix } from 'node:path';

export interface BrokenLink {
  file: string;
  line: number;
  link: string;
  reason: string;
}

/** Relative links of the Markdown files among `files` that lead nowhere. Paths are relative to the repository's root. */
export function brokenLinks(files: string[], read: (file: string) => string): BrokenLink[] {
  const known = new Set(files.flatMap(withFolders));
  const anchors = new Map<string, Set<string>>();
  const anchorsOf = (file: string) => {
    const found = anchors.get(file) ?? headingAnchors(read(file));
    anchors.set(file, found);
    return found;
  };
  return files
    .filter((file) => file.endsWith('.md'))
    .flatMap((file) =>
      linksOf(read(file)).flatMap(({ line, link }) => {
        const [path = '', anchor] = link.split('#');
        const target = path === '' ? file : posix.join(posix.dirname(file), path).replace(/\/$/, '');
        if (!known.has(target)) return [{ file, line, link, reason: 'no such file' }];
        if (anchor && target.endsWith('.md') && !anchorsOf(target).has(anchor)) return [{ file, line, link, reason: 'no such heading' }];
        return [];
      }),
    );
}

function linksOf(text: string): { line: number; link: string }[] {
  return proseLines(text).flatMap(({ line, prose }) =>
    [...prose.matchAll(/\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g)]
      .map(([, link = '']) => ({ line, link }))
      .filter(({ link }) => !/^([a-z]+:|\/)/.test(link)),
  );
}

/** GitHub's ids of headings: lower case, punctuation removed, spaces to hyphens, repeats numbered. */
function headingAnchors(text: string): Set<string> {
  const anchors = new Set<string>();
  for (const { prose } of proseLines(text, true)) {
    const heading = /^#{1,6}\s+(.+?)\s*#*$/.exec(prose)?.[1];
    if (heading === undefined) continue;
    const id = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-');
    let unique = id;
    for (let n = 1; anchors.has(unique); n += 1) unique = `${id}-${n}`;
    anchors.add(unique);
  }
  return anchors;
}

/** Lines outside of fenced code, with inline code blanked unless `withCode`. */
function proseLines(text: string, withCode = false): { line: number; prose: string }[] {
  let fenced = false;
  return text.split('\n').flatMap((line, index) => {
    if (/^\s*(```|~~~)/.test(line)) {
      fenced = !fenced;
      return [];
    }
    return fenced ? [] : [{ line: index + 1, prose: withCode ? line : line.replace(/`[^`]*`/g, '') }];
  });
}

function withFolders(file: string): string[] {
  const parts = file.split('/');
  return ['', '.', ...parts.map((_, index) => parts.slice(0, index + 1).join('/'))];
}
