/** ISO 3166-1: the three-letter code, then the two-letter code of the same country. */
const PAIRS =
  'abwaw afgaf agoao aiaai alaax albal andad areae argar armam asmas ataaq atftf atgag ausau autat azeaz bdibi belbe benbj besbq bfabf ' +
  'bgdbd bgrbg bhrbh bhsbs bihba blmbl blrby blzbz bmubm bolbo brabr brbbb brnbn btnbt bvtbv bwabw cafcf canca cckcc chech chlcl chncn ' +
  'civci cmrcm codcd cogcg cokck colco comkm cpvcv cricr cubcu cuwcw cxrcx cymky cypcy czecz deude djidj dmadm dnkdk domdo dzadz ecuec ' +
  'egyeg erier esheh espes estee ethet finfi fjifj flkfk frafr frofo fsmfm gabga gbrgb geoge ggygg ghagh gibgi gingn glpgp gmbgm gnbgw ' +
  'gnqgq grcgr grdgd grlgl gtmgt gufgf gumgu guygy hkghk hmdhm hndhn hrvhr htiht hunhu idnid imnim indin iotio irlie irnir irqiq islis ' +
  'isril itait jamjm jeyje jorjo jpnjp kazkz kenke kgzkg khmkh kirki knakn korkr kwtkw laola lbnlb lbrlr lbyly lcalc lieli lkalk lsols ' +
  'ltult luxlu lvalv macmo mafmf marma mcomc mdamd mdgmg mdvmv mexmx mhlmh mkdmk mliml mltmt mmrmm mneme mngmn mnpmp mozmz mrtmr msrms ' +
  'mtqmq musmu mwimw mysmy mytyt namna nclnc nerne nfknf ngang nicni niunu nldnl norno nplnp nrunr nzlnz omnom pakpk panpa pcnpn perpe ' +
  'phlph plwpw pngpg polpl pripr prkkp prtpt prypy pseps pyfpf qatqa reure rouro rusru rwarw sausa sdnsd sensn sgpsg sgsgs shnsh sjmsj ' +
  'slbsb slesl slvsv smrsm somso spmpm srbrs ssdss stpst sursr svksk svnsi swese swzsz sxmsx sycsc syrsy tcatc tcdtd tgotg thath tjktj ' +
  'tkltk tkmtm tlstl tonto ttott tuntn turtr tuvtv twntw tzatz ugaug ukrua umium uryuy usaus uzbuz vatva vctvc venve vgbvg virvi vnmvn ' +
  'vutvu wlfwf wsmws yemye zafza zmbzm zwezw';

export const COUNTRY_ALPHA3: ReadonlyMap<string, string> = new Map(
  PAIRS.toLowerCase()
    .split(' ')
    .map((pair) => [pair.slice(0, 3), pair.slice(3)] as const),
);

/** Common names that are not in the Unicode tables, folded. */
const OTHER_NAMES: Record<string, string> = {
  uae: 'ae',
  'united states of america': 'us',
  america: 'us',
  'great britain': 'gb',
  england: 'gb',
  scotland: 'gb',
  wales: 'gb',
  'northern ireland': 'gb',
  'republic of ireland': 'ie',
  holland: 'nl',
  'czech republic': 'cz',
  turkey: 'tr',
  'ivory coast': 'ci',
  burma: 'mm',
  myanmar: 'mm',
  'hong kong': 'hk',
  macau: 'mo',
  macao: 'mo',
  macedonia: 'mk',
  palestine: 'ps',
  'republic of korea': 'kr',
  'russian federation': 'ru',
  'viet nam': 'vn',
  belgie: 'be',
  belgique: 'be',
  brasil: 'br',
  danmark: 'dk',
  deutschland: 'de',
  espana: 'es',
  italia: 'it',
  nederland: 'nl',
  norge: 'no',
  osterreich: 'at',
  polska: 'pl',
  schweiz: 'ch',
  suisse: 'ch',
  suomi: 'fi',
  sverige: 'se',
  svizzera: 'ch',
};

/** `Saint Kitts and Nevis` and `St. Kitts & Nevis` become the same text; so do accents and their absence. */
export const foldCountryName = (name: string): string =>
  name
    .toLowerCase()
    .normalize('NFD')
    .replace(/[\p{M}.'’]/gu, '')
    .replaceAll('&', 'and')
    .replace(/^the /, '')
    .replace(/^saint /, 'st ');

let names: { codes: ReadonlySet<string>; byName: ReadonlyMap<string, string> } | undefined;

/** English names from the host's Unicode tables, read on first use. */
export function countryNames(): NonNullable<typeof names> {
  if (names) return names;
  const display = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' });
  const byName = new Map(Object.entries(OTHER_NAMES));
  const codes = new Set(COUNTRY_ALPHA3.values());
  for (const code of codes) {
    const name = display.of(code.toUpperCase());
    if (name) byName.set(foldCountryName(name), code);
  }
  names = { codes, byName };
  return names;
}
