import { stepsOf } from './edit/json.js';

/** What a person is told about a field. */
export interface FieldWords {
  /** Absent: the words of its name say it. */
  readonly label?: string;
  /** Shown below the field. Absent: the label says enough. */
  readonly help?: string;
  /** What to write instead of a text of another form. */
  readonly form?: string;
  /** What one entry of a list is called. */
  readonly entry?: string;
  /** Whether a copy of a record starts without it. */
  readonly isOwn?: true;
  /** What no value means. */
  readonly none?: string;
  /** Whether buttons change it, and no form. */
  readonly hasButtons?: true;
}

/** A part of a form. */
export interface Section {
  readonly title: string;
  readonly fields: readonly string[];
  /** Whether it stands in the narrow column. */
  readonly isAside?: true;
}

/** The parts of long forms, by resource. The first one also has the fields that none names. */
export const SECTIONS: Readonly<Record<string, readonly Section[]>> = {
  products: [
    { title: 'Basics', fields: ['name', 'brand', 'status', 'description', 'url'] },
    { title: 'Price and stock', fields: ['price', 'stock'] },
    { title: 'Pictures', fields: ['images'] },
    { title: 'Attributes', fields: ['attributes'] },
    { title: 'Categories and tags', fields: ['tags'], isAside: true },
    { title: 'Identifiers', fields: ['sku', 'gtin'], isAside: true },
    { title: 'Variants', fields: ['group'], isAside: true },
  ],
};

/**
 * The words for fields, by their paths, that say more than their names. The name of the resource stands before a path
 * that means something else in another one.
 */
export const FIELD_WORDS: Readonly<Record<string, FieldWords>> = {
  id: { label: 'ID' },
  createdAt: { label: 'Created' },
  updatedAt: { label: 'Changed' },
  sku: {
    label: 'SKU',
    help: 'Your article number. No two products have the same.',
    isOwn: true,
    form: 'Write letters from A to Z, digits, points, hyphens and underscores, without spaces.',
  },
  'price.amount': { label: 'Price' },
  'price.currency': { label: 'Currency', form: 'Write three capital letters, such as EUR.' },
  attributes: { help: 'What else buyers compare, such as colour or weight.', entry: 'attribute' },
  status: { help: 'Drafts and archived products are hidden from the public.', none: 'live' },
  tags: {
    help: 'Press Enter after each. A slash makes a category: lighting/lamps.',
    form: 'Write words in one line, without commas and the sign |.',
  },
  images: { label: 'Pictures', help: 'The first one is the main picture.', entry: 'picture' },
  'images.url': { label: 'URL', form: 'Write a URL such as https://example.com/lamp.jpg.' },
  'images.alt': { label: 'What it shows', help: 'For people who do not see it.' },
  url: {
    label: 'URL',
    help: 'The page of the product in your shop.',
    form: 'Write a URL such as https://example.com/lamp.',
  },
  gtin: {
    label: 'GTIN',
    help: 'The number below the barcode.',
    isOwn: true,
    form: 'Write all 8, 12, 13 or 14 digits below the barcode, without spaces.',
  },
  group: {
    help: 'Products of the same group are variants of one another.',
    form: 'Write letters from A to Z, digits, points, hyphens and underscores, without spaces.',
  },
  email: { form: 'Write an email address such as ann@example.com.', isOwn: true },
  userId: { label: 'User' },
  items: { entry: 'item' },
  'items.productId': { label: 'Product' },
  'items.quantity': { label: 'Quantity' },
  'api-keys.name': { help: 'What uses the key, such as “web shop”.' },
  scopes: { help: 'A key can give only scopes that it has itself.' },
  expiresAt: {
    label: 'Expires',
    help: 'In your time zone. Empty: never.',
    form: 'Choose a time in the future.',
    none: 'never',
  },
  lastUsedAt: { label: 'Last used', none: 'never' },
  createdBySubject: { label: 'Created for' },
  'webhooks.name': { help: 'What receives the messages, such as “search index”.' },
  'webhooks.url': {
    help: 'Messages go there. Another URL gets a new secret, and the webhook then belongs to your key.',
    form: 'Write a URL such as https://example.com/hook.',
  },
  'webhooks.status': { hasButtons: true },
  resources: {
    label: 'Changes of',
    help: 'The webhook belongs to the key that chose them: it sends while the key is valid and may read them.',
  },
  lastDeliveryAt: { label: 'Last message', none: 'never' },
};

/** @param path without the numbers of entries: `price.amount`, `images.url` */
export function wordsOf(path: string, resource = ''): FieldWords | undefined {
  const key = [`${resource}.${path}`, path].find((one) => Object.hasOwn(FIELD_WORDS, one));
  return key === undefined ? undefined : FIELD_WORDS[key];
}

/** The path of the field at a JSON Pointer, in {@link FIELD_WORDS}. */
export function pathAt(pointer: string): string {
  return stepsOf(pointer).reduce(pathOf, '');
}

/** The path of a member or an entry. The number of an entry names no other field. */
export function pathOf(path: string, step: string): string {
  if (path === '') return step;
  return /^\d+$/.test(step) ? path : `${path}.${step}`;
}
