/** JSON Schema formats that are checked. Other names are only annotations, as the standard says. */
const LENGTH_LIMIT = 4_096;
const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const TIME = /^(\d\d):(\d\d):(\d\d)(\.\d+)?(z|[+-]\d\d(?::?\d\d)?)$/i;
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function date(text: string): boolean {
  const match = DATE.exec(text);
  if (!match) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = month === 2 && leap ? 29 : (DAYS[month - 1] ?? 0);
  return day >= 1 && day <= days;
}
function time(text: string): boolean {
  const match = TIME.exec(text);
  return match !== null && Number(match[1]) < 24 && Number(match[2]) < 60 && Number(match[3]) <= 60;
}
function dateTime(text: string): boolean {
  const at = text.search(/[t\s]/i);
  return at === 10 && date(text.slice(0, 10)) && time(text.slice(11));
}
function hostname(text: string): boolean {
  return text.length <= 253 && text.split('.').every((label) => /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i.test(label));
}
function email(text: string): boolean {
  const at = text.lastIndexOf('@');
  return at > 0 && at <= 64 && /^[^\s@"<>()[\]\\,;:]+$/.test(text.slice(0, at)) && hostname(text.slice(at + 1));
}
function ipv4(text: string): boolean {
  return /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/.test(text);
}
function ipv6(text: string): boolean {
  return text.includes(':') && URL.canParse(`http://[${text}]/`);
}
function jsonPointer(text: string): boolean {
  return text === '' || /^\/(?:[^~]|~[01])*$/s.test(text);
}

export const FORMATS: ReadonlyMap<string, (text: string) => boolean> = new Map(
  Object.entries({
    date,
    time,
    'date-time': dateTime,
    duration: (text: string) => /^P(?!$)(?:\d+W|(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+S)?)?)$/.test(text),
    email,
    'idn-email': email,
    hostname,
    'idn-hostname': (text: string) => text.length > 0 && text.length <= 253 && !/[\s/@?#]/.test(text),
    ipv4,
    ipv6,
    uri: (text: string) => /^[a-z][a-z0-9+.-]*:/i.test(text) && !/\s/.test(text) && URL.canParse(text),
    url: (text: string) => /^(?:https?|ftp):\/\//i.test(text) && !/\s/.test(text) && URL.canParse(text),
    'uri-reference': (text: string) => !/\s/.test(text) && URL.canParse(text, 'http://base.example/'),
    uuid: (text: string) => /^(?:urn:uuid:)?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(text),
    'json-pointer': jsonPointer,
  }).map(([name, test]) => [name, (text: string) => text.length <= LENGTH_LIMIT && test(text)]),
);
