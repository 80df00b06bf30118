import { MAX_SLUG } from '@firsthand/core/config/pipeline.ts';

/** Letters that decomposition does not take apart, and the two alphabets most names outside of Latin are written in. */
const SPELLED: Record<string, string> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ł: 'l',
  ħ: 'h',
  ı: 'i',
  ŋ: 'ng',
  α: 'a',
  β: 'v',
  γ: 'g',
  δ: 'd',
  ε: 'e',
  ζ: 'z',
  η: 'i',
  θ: 'th',
  ι: 'i',
  κ: 'k',
  λ: 'l',
  μ: 'm',
  ν: 'n',
  ξ: 'x',
  ο: 'o',
  π: 'p',
  ρ: 'r',
  σ: 's',
  ς: 's',
  τ: 't',
  υ: 'y',
  φ: 'f',
  χ: 'ch',
  ψ: 'ps',
  ω: 'o',
  а: 'a',
  б: 'b',
  в: 'v',
  г: 'g',
  д: 'd',
  е: 'e',
  ж: 'zh',
  з: 'z',
  и: 'i',
  к: 'k',
  л: 'l',
  м: 'm',
  н: 'n',
  о: 'o',
  п: 'p',
  р: 'r',
  с: 's',
  т: 't',
  у: 'u',
  ф: 'f',
  х: 'kh',
  ц: 'ts',
  ч: 'ch',
  ш: 'sh',
  щ: 'shch',
  ъ: '',
  ы: 'y',
  ь: '',
  э: 'e',
  ю: 'yu',
  я: 'ya',
  і: 'i',
  є: 'ye',
  ґ: 'g',
};
/** URL-safe, and never `.` or `..`, which URL parsers remove. */
const FALLBACK = 'pipeline';

/** Turns a name into a URL-safe slug: `Café Zürich – EU` becomes `cafe-zurich-eu`. */
export function slugOf(name: string): string {
  const slug = [...name.toLowerCase().normalize('NFKD').replace(/\p{M}/gu, '')]
    .map((letter) => SPELLED[letter] ?? letter)
    .join('')
    .replace(/['’]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_SLUG - 10)
    .replace(/^-+|(?<!-)-+$/g, '');
  return slug === '' ? FALLBACK : slug;
}

/** The slug itself if it is free, else with `-2`, `-3` and so on. */
export function freeSlug(slug: string, taken: ReadonlySet<string>): string {
  if (!taken.has(slug)) return slug;
  for (let number = 2; ; number++) if (!taken.has(`${slug}-${number}`)) return `${slug}-${number}`;
}
