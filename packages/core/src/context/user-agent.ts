/** Parses a user agent string: device, operating system, browser, and whether it names a known bot. */
import Bowser from 'bowser';
import { isbot } from 'isbot';
import type { JsonObject } from '../json.ts';
import { Lru } from './lru.ts';

export interface ParsedUserAgent {
  device: JsonObject | undefined;
  os: JsonObject | undefined;
  browser: JsonObject | undefined;
  is_bot: boolean;
}

/** Parsing costs about 20 µs, and the visitors of a site share a few hundred strings. */
const cache = new Lru<string, ParsedUserAgent>(2_000);
/** Real user agents are below 400 characters. The limit keeps long hostile ones away from the parser's patterns. */
const MAX_LENGTH = 512;

export function parseUserAgent(userAgent: string): ParsedUserAgent {
  const text = userAgent.length > MAX_LENGTH ? userAgent.slice(0, MAX_LENGTH) : userAgent;
  const known = cache.get(text);
  if (known !== undefined) return known;
  const { platform, os, browser } = Bowser.parse(text);
  const parsed: ParsedUserAgent = {
    device: present({ type: platform.type, manufacturer: platform.vendor, model: platform.model }),
    os: present({ name: os.name, version: osVersion(os) }),
    browser: present({ name: browser.name, version: browser.version }),
    is_bot: isbot(text),
  };
  cache.set(text, parsed);
  return parsed;
}

/**
 * For Windows the version is the kernel's (NT 10.0), so the parser's name for it, which people know, is preferred. For other systems
 * the number says more than the name.
 */
function osVersion({ name, version, versionName }: Bowser.Parser.ParsedResult['os']): string | undefined {
  return name === 'Windows' ? (versionName ?? version) : (version ?? versionName);
}

function present(values: Record<string, string | undefined>): JsonObject | undefined {
  const out: JsonObject = {};
  for (const [key, value] of Object.entries(values)) if (value) out[key] = value;
  return Object.keys(out).length > 0 ? out : undefined;
}
