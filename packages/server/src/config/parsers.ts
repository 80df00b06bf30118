import { accessSync, constants, statSync } from 'node:fs';
import { validateHeaderName, validateHeaderValue } from 'node:http';
import { isNetwork } from '../network/address-matcher.ts';

/** Reads the text of a variable. `parse` returns undefined for a bad value; `expected` then completes "expected …". */
export interface Parser<T> {
  parse: (text: string) => T | undefined;
  expected: string;
}

const UNITS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

export const anyText: Parser<string> = { parse: (text) => text, expected: 'any text' };

export const port: Parser<number> = { parse: (text) => between(text, 0, 65_535), expected: 'a port from 0 to 65535' };

/** A longer one before now is no date any more. */
const MOST_DAYS = 36_500;

/** Milliseconds. */
export const duration: Parser<number> = {
  expected: 'a duration such as 500ms, 30s, 15m, 24h, 7d, or plain seconds, of at most 36500d',
  parse(text) {
    const match = /^(\d{1,12}(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text);
    const unit = UNITS[match?.[2] ?? 's'];
    const ms = unit === undefined ? Number.NaN : Math.round(Number(match?.[1]) * unit);
    return ms > 0 && ms <= MOST_DAYS * 86_400_000 ? ms : undefined;
  },
};

/** Milliseconds, up to a day: a timer of more than 24 days fires at once. */
export const timerInterval: Parser<number> = {
  expected: 'a duration such as 500ms, 15s or 5m, of at most 24h',
  parse(text) {
    const ms = duration.parse(text);
    return ms !== undefined && ms <= UNITS.d! ? ms : undefined;
  },
};

/** Milliseconds, up to a minute. */
export const durationOrNone: Parser<number> = {
  expected: 'a duration from 0s to 60s',
  parse(text) {
    const ms = /^0(ms|s)?$/.test(text) ? 0 : duration.parse(text);
    return ms !== undefined && ms <= 60_000 ? ms : undefined;
  },
};

export const flag: Parser<boolean> = {
  expected: 'true or false',
  parse: (text) => (text === 'true' || text === '1' ? true : text === 'false' || text === '0' ? false : undefined),
};

export const emailAddress: Parser<string> = {
  expected: 'an e-mail address',
  parse: (text) => (/^[^\s@]+@[^\s@]+$/.test(text) ? text.toLowerCase() : undefined),
};

export const databaseUrl: Parser<string> = {
  expected: 'postgres://user:password@host/database',
  parse: (text) => urlOf(text, ['postgres:', 'postgresql:']),
};

export const smtpUrl: Parser<string> = {
  expected: 'smtp://user:password@host:port',
  parse(text) {
    const url = urlOf(text, ['smtp:', 'smtps:']);
    if (url === undefined) return undefined;
    const { username, password } = new URL(url);
    return hasHost(url) && (username === '') === (password === '') ? url : undefined;
  },
};

export const natsServers: Parser<string> = {
  expected: 'nats://host:port',
  parse: (text) => (text.split(',').every((part) => hasHost(urlOf(part.trim(), ['nats:', 'tls:']))) ? text : undefined),
};

/** Paths are appended to it. */
export const publicUrl: Parser<string> = {
  expected: 'an http or https address without a query or fragment',
  parse: (text) => (/[?#]/.test(text) ? undefined : urlOf(text, ['http:', 'https:'])?.replace(/(?<!\/)\/+$/, '')),
};

/** As OpenTelemetry writes headers and resource attributes. */
export const keyValuePairs: Parser<Record<string, string>> = {
  expected: 'a comma-separated list of name=value, with special characters percent-encoded',
  parse(text) {
    const pairs = text.split(',').map((pair) => /^\s*([^=\s]+)=([^,]*?)\s*$/.exec(pair));
    try {
      return Object.fromEntries(pairs.map((pair) => [decodeURIComponent(pair?.[1] ?? '%'), decodeURIComponent(pair?.[2] ?? '%')]));
    } catch {
      return undefined; // not a pair, or not percent-encoding
    }
  },
};

export const headers: Parser<Record<string, string>> = {
  expected: 'a comma-separated list of header=value, with special characters percent-encoded',
  parse(text) {
    const pairs = keyValuePairs.parse(text);
    try {
      for (const [name, value] of Object.entries(pairs ?? {})) {
        validateHeaderName(name);
        validateHeaderValue(name, value);
      }
    } catch {
      return undefined; // no request could carry it
    }
    return pairs;
  },
};

export const ratio: Parser<number> = {
  expected: 'a number from 0 to 1',
  parse: (text) => (/^(0(\.\d+)?|1(\.0+)?)$/.test(text) ? Number(text) : undefined),
};

export const hostNames: Parser<string[]> = {
  expected: 'a comma-separated list of host names without scheme or port',
  parse(text) {
    const names = text.split(',').map((name) => name.trim().toLowerCase());
    return names.every((name) => /^(\[[0-9a-f:.]+\]|[a-z0-9.-]+)$/.test(name)) ? names : undefined;
  },
};

const USER_ROLES = ['viewer', 'editor', 'admin', 'owner'] as const;
export const roleMap: Parser<ReadonlyMap<string, (typeof USER_ROLES)[number]>> = {
  expected: `a comma-separated list of group=role, the role being one of ${USER_ROLES.join(', ')}`,
  parse(text) {
    const map = new Map<string, (typeof USER_ROLES)[number]>();
    for (const pair of text.split(',')) {
      const at = pair.lastIndexOf('=');
      const group = pair.slice(0, Math.max(at, 0)).trim();
      const role = USER_ROLES.find((one) => one === pair.slice(at + 1).trim());
      if (group === '' || role === undefined) return undefined;
      map.set(group, role);
    }
    return map;
  },
};

export const proxies: Parser<number | string[]> = {
  expected: 'a number of proxies, or a comma-separated list of addresses and networks',
  parse(text) {
    const count = between(text, 0, 32);
    if (count !== undefined) return count;
    const parts = text.split(',').map((part) => part.trim());
    return parts.every(isNetwork) ? parts : undefined;
  },
};

export function wholeNumber(least: number, most: number, expected: string): Parser<number> {
  return { parse: (text) => between(text, least, most), expected };
}

export function atLeastLong(length: number): Parser<string> {
  return { parse: (text) => (text.length >= length ? text : undefined), expected: `at least ${length} characters` };
}

/** A header carries other characters as bytes of one encoding or another, so that they would never be equal. */
export function asciiToken(length: number): Parser<string> {
  return {
    parse: (text) => (text.length >= length && /^[\x20-\x7e]+$/.test(text) ? text : undefined),
    expected: `at least ${length} ASCII characters`,
  };
}

export function oneOf<const T extends string>(...choices: readonly T[]): Parser<T> {
  const last = choices.at(-1);
  return {
    parse: (text) => choices.find((choice) => choice === text),
    expected: choices.length > 1 ? `${choices.slice(0, -1).join(', ')} or ${last}` : `${last}`,
  };
}

export function setOf<const T extends string>(choices: readonly T[]): Parser<ReadonlySet<T>> {
  return {
    expected: `a comma-separated list of ${choices.join(', ')}`,
    parse(text) {
      const names = text
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== '');
      const known = names.flatMap((name) => choices.filter((choice) => choice === name));
      return names.length > 0 && known.length === names.length ? new Set(known) : undefined;
    },
  };
}

export function readableFile(kind: string): Parser<string> {
  return {
    expected: `${kind} that can be read`,
    parse(text) {
      try {
        accessSync(text, constants.R_OK);
        return statSync(text).isFile() ? text : undefined;
      } catch {
        return undefined; // missing or unreadable: the caller reports the variable
      }
    },
  };
}

function between(text: string, least: number, most: number): number | undefined {
  if (!/^\d{1,16}$/.test(text)) return undefined;
  const number = Number(text);
  return number >= least && number <= most ? number : undefined;
}

function hasHost(url: string | undefined): boolean {
  return url !== undefined && new URL(url).hostname !== '';
}

function urlOf(text: string, protocols: string[]): string | undefined {
  return URL.canParse(text) && protocols.includes(new URL(text).protocol) ? text : undefined;
}
