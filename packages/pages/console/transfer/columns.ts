import { readBoolean } from '#src/shared/json.js';
import type { Field } from '../edit/form-model.js';
import { ERROR } from './failed-records.js';
import { columnPath } from './file-changes.js';
import { type CellKind, plainNumber, type Sample } from './reading.js';

/** What stands in a column of the API's CSV. */
export function kindOf(column: string, fields: readonly Field[]): CellKind {
  const { name, key, type } = columnPath(column);
  const field = fields.find((one) => one.name === name);
  if (type === 'number' || type === 'boolean') return type;
  if (column === 'deleted') return 'boolean';
  const isNumber = field?.kind === 'price' ? key !== 'currency' : field?.kind === 'number' && key === undefined;
  return isNumber || column === 'id' || column === 'version' ? 'number' : 'text';
}

/** The columns of the API's CSV, without those of single attributes. @param control those that only an update has */
export function columnsOf(fields: readonly Field[], control: readonly string[]): string[] {
  const own = fields.flatMap(({ kind, name }) =>
    kind === 'price' ? ['decimal', 'amount', 'currency'].map((key) => `${name}.${key}`) : [name],
  );
  return [...own, ...control];
}

/** The columns of a file to fill in. */
export function templateColumns(fields: readonly Field[]): string[] {
  const maps = fields.filter(({ kind }) => kind === 'map').map(({ name }) => name);
  return columnsOf(fields, []).filter((column) => !column.endsWith('.amount') && !maps.includes(column));
}

/** The column of an attribute. */
export function attributeColumn(field: string, key: string, type: 'text' | 'number' | 'boolean'): string {
  return `${field}[${key}]${type === 'text' ? '' : `:${type}`}`;
}

/** How the attributes that are there spell a name which is none of them: with other capitals, or spaces around it. */
export function otherSpelling(name: string, attributes: readonly string[]): string | undefined {
  const plain = (one: string) => one.trim().toLowerCase();
  return attributes.includes(name) ? undefined : attributes.find((one) => plain(one) === plain(name));
}

interface Known {
  readonly fields: readonly Field[];
  readonly control: readonly string[];
  /** The attributes of records that are there, with a value of each. */
  readonly attributes: Readonly<Record<string, unknown>>;
  /** What the person chose before for columns with these names. */
  readonly remembered: Readonly<Record<string, string>>;
}

/**
 * Guesses which column of the API each column of a file is: by its own name, by what the person chose last time, or by
 * what shops call it in English, German and French. An attribute keeps the spelling that it has in records. Nothing is
 * guessed twice.
 * @returns an empty name for each column that is left out
 */
export function guessColumns({ header, rows, numbers }: Sample, known: Known): string[] {
  const { fields, control, attributes, remembered } = known;
  const columns = columnsOf(fields, control);
  const map = fields.find(({ kind }) => kind === 'map')?.name;
  const taken = new Set<string>();
  const attributeOf = (key: string, at: number, type?: string): string => {
    const cells = rows.map((row) => row[at] ?? '').filter((cell) => cell !== '');
    const are = (test: (cell: string) => boolean) => cells.length > 0 && cells.every(test);
    const seen = are((cell) => /^-?\d+(\.\d+)?$/.test(plainNumber(cell, numbers)))
      ? 'number'
      : are((cell) => readBoolean(cell) !== undefined)
        ? 'boolean'
        : 'text';
    const stored = Object.hasOwn(attributes, key) ? typeof attributes[key] : undefined;
    const kind = type ?? (stored === undefined || stored === seen ? seen : 'text');
    return attributeColumn(map ?? '', key, kind as 'text');
  };
  const guess = (name: string, at: number): string => {
    if (name === '' || name === ERROR) return '';
    if (columns.includes(name)) return name;
    const { name: field, key, type } = columnPath(name);
    if (map !== undefined && field === map && key !== undefined) return attributeOf(key, at, type);
    if (Object.hasOwn(remembered, name)) return remembered[name] ?? '';
    const word = wordOf(name);
    const column = columns.find((one) => wordOf(one) === word || WORDS[one]?.split(' ').includes(word));
    if (column !== undefined && !control.includes(column)) return column;
    const spelled = otherSpelling(name, Object.keys(attributes));
    const own = spelled === undefined || header.includes(spelled) ? name : spelled;
    const isKnown = Object.hasOwn(attributes, own) || ATTRIBUTES.split(' ').includes(word);
    return map !== undefined && isKnown ? attributeOf(own, at) : '';
  };
  return header.map((name, at) => {
    const column = guess(name.trim(), at);
    if (column === '' || taken.has(column)) return '';
    taken.add(column);
    return column;
  });
}

/** `Prix TTC (€)` → `prixttc`, `Größe` → `grosse` */
function wordOf(name: string): string {
  const plain = name.toLowerCase().replaceAll('ß', 'ss').normalize('NFD');
  const bare = plain.replace(/\(.*?\)|\[.*?\]|[^a-z](?:eur|usd|chf|gbp)$/g, '');
  return bare.replace(/[^a-z0-9]/g, '');
}

/** What shops call the columns, as {@link wordOf} writes it. */
const WORDS: Readonly<Record<string, string>> = {
  name: 'title producttitle productname itemname product bezeichnung artikelbezeichnung artikelname artikel produktname produkt titel nom nomduproduit designation libelle titre intitule',
  description:
    'beschreibung produktbeschreibung artikelbeschreibung langtext bodyhtml longdescription descriptif descriptionlongue',
  sku: 'variantsku itemnumber itemno articlenumber productcode partnumber artikelnummer artikelnr artnr artikelno bestellnummer bestellnr produktnummer reference ref referenz codearticle codeproduit referenceproduit numeroarticle',
  'price.decimal':
    'price unitprice saleprice regularprice retailprice variantprice preis verkaufspreis vk vkpreis bruttopreis einzelpreis prix prixttc prixdevente prixunitaire',
  'price.currency': 'currency currencycode wahrung waehrung wahrungscode devise monnaie',
  stock:
    'quantity qty inventory inventoryquantity variantinventoryqty stockquantity onhand bestand lagerbestand menge anzahl lagermenge quantite quantiteenstock stockdisponible',
  status: 'statut produktstatus',
  tags: 'tag categories category collections keywords kategorien kategorie schlagworte schlagworter stichworte warengruppe categorie motscles etiquettes',
  brand: 'vendor manufacturer marke hersteller fabrikat marque fabricant',
  gtin: 'ean ean13 gtin13 upc barcode variantbarcode eancode strichcode codebarre codebarres codeean',
  group: 'itemgroupid parentsku handle gruppe variantengruppe groupe groupedevariantes',
  images: 'image imageurl imagesrc imagelink picture pictures bild bilder bildurl fotos foto photo photos urlimage',
  url: 'link productlink producturl weblink produkturl webseite lien urlproduit',
  email: 'mail emailaddress emailadresse courriel adressemail',
};

/** What shops call properties of products, of which each is an attribute. */
const ATTRIBUTES =
  'colour color farbe couleur size grosse taille material materials matiere materiau weight gewicht poids width breite largeur height hohe hauteur length lange longueur depth tiefe profondeur diameter durchmesser diametre';
