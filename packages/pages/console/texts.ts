import { currencyDigits } from '#src/domain/money.js';
import { amountText, type NumberProblem, numberText, priceText, typedText } from './formats.js';

const PRICE_OF_25 = priceText({ amount: 25, currency: 'EUR' });

/** All texts of the console, a section for each part. Texts with values are functions. */
export const TEXTS = {
  copied: (isCopied: boolean) =>
    isCopied ? 'Copied.' : 'The browser does not allow copying. The text is selected: copy it yourself.',
  session: {
    title: 'Console',
    signIn: 'Sign in',
    signOut: 'Sign out',
    keyLabel: 'API key or access token',
    keyHint: 'The open tabs of this service keep it until you sign out or close them.',
    keyHintNoStorage: 'This browser blocks the storage of the tab, so a reload signs you out.',
    show: 'Show',
    checking: 'Checking…',
    badCharacters: 'This has characters that cannot be in a key.',
    empty: 'Enter a key or an access token.',
    intro: 'Find, edit, import and export the records of this service. You see what your key allows.',
    noKey: 'The first start of the service prints a key with every scope. The command line makes more:',
    signedOut: 'You are signed out.',
    lockedOut: 'The service no longer accepts this key: it has expired or was revoked. Sign in with another one.',
    nothingTitle: 'Nothing to show',
    nothing: 'This key is valid, but has no scope that reads records. Sign in with another one.',
  },
  list: {
    search: 'Search',
    searchHints: { products: 'Search name, SKU, brand, GTIN, tag', users: 'Search name, email' } as Readonly<
      Record<string, string>
    >,
    new: 'New',
    import: 'Import',
    pages: 'Pages',
    first: 'First',
    previous: 'Previous',
    next: 'Next',
    pageSize: 'Rows',
    count: 'Count all',
    /** @returns such as "51–100 of 300": what of the list a page has, as far as that is known */
    shown: (count: number, start: number | undefined, total: number | undefined) => {
      const ends = start === undefined || count === 1 ? [start ?? count] : [start, start + count - 1];
      const range = ends.map(numberText).join('–');
      return total === undefined ? range : `${range} of ${numberText(total)}`;
    },
    loading: 'Loading…',
    loaded: (count: number) => (count === 1 ? '1 record loaded' : `${count} records loaded`),
    noMatchTitle: 'No record matches',
    noMatch: 'Change the search or the filters, or remove them all.',
    noMatchPage: 'This page is empty: its records are gone.',
    clear: 'Remove search and filters',
    goFirst: 'Go to the first page',
  },
  bulk: {
    title: 'Selected records',
    select: (name: string) => `Select ${name}`,
    selectPage: 'Select all on this page',
    selectAll: (total: string) => (total === '' ? 'Select all that match' : `Select all ${total} that match`),
    selected: (count: string) => `${count} selected`,
    clear: 'Clear selection',
    actions: {
      add: (label: string) => `Add ${label}`,
      remove: (label: string) => `Remove ${label}`,
      set: (label: string) => `Set ${label}`,
      price: (label: string) => `Change ${label}`,
    },
    deleteThem: 'Delete',
    change: (records: string) => `Change ${records}`,
    delete: (records: string) => `Delete ${records}`,
    deleteHint: 'You see first what would be deleted. An undo creates the records again, with new IDs.',
    also: 'And also:',
    byPercent: 'by per cent',
    toAmount: 'to an amount',
    percent: 'Per cent',
    percentHint: `${typedText(5)} raises and ${typedText(-7.5)} lowers each price.`,
    amount: 'New price',
    amountHint: 'In the currency that each product has.',
    preview: 'Preview',
    back: 'Back',
    close: 'Done',
    would: (count: string, isDeletion: boolean) =>
      `${count} would ${isDeletion ? 'be deleted' : 'change'}. Nothing is written yet.`,
    was: (count: string, isDeletion: boolean) => `${count} ${isDeletion ? 'deleted' : 'changed'}.`,
    wouldBeRefused: (count: string) => `${count} would be refused.`,
    refused: (count: string) => `${count} not changed. They stay selected, with the reason.`,
    unchanged: (count: string) => `${count} already so.`,
    noPrice: (count: string) => `${count} without a price skipped.`,
    otherCurrency: (count: string) => `${count} with a currency that has fewer decimal places skipped.`,
    gone: (count: string) => `${count} deleted by somebody else.`,
    changedSince: 'Somebody else changed it at the same time.',
    findings: { inFile: 'Afterwards', conflicts: 'Changed by others' },
    leaving: {
      unsavedTitle: 'Stop the change?',
      unsaved: 'Some records are not changed yet. If you leave, they stay as they are.',
    },
  },
  undo: {
    button: 'Undo',
    title: 'Undo the last change?',
    /** @returns such as "Products: 40 changed, 2 deleted." */
    done: (resource: string, counts: Readonly<Record<'created' | 'changed' | 'deleted', number>>) =>
      `${resource}: ${(['created', 'changed', 'deleted'] as const)
        .filter((kind) => counts[kind] > 0)
        .map((kind) => `${numberText(counts[kind])} ${kind}`)
        .join(', ')}.`,
    changed: (count: string) => `${count} get back the values that they had.`,
    created: (count: string) => `${count} that were created are deleted.`,
    deleted: (count: string) => `${count} that were deleted are created again, with new IDs.`,
    kept: 'What others have changed since stays as it is.',
    outcome: (count: string, refused: string) =>
      refused === '0' ? `${count} undone.` : `${count} undone. ${refused} stay as they are: see below.`,
    findings: { inFile: 'Before', conflicts: 'Changed by others since' },
    tooMany: (count: string, most: string) =>
      `${count} records would be different. The console can undo at most ${most}, so save the old values first: a file that you can import.`,
    saveOldValues: 'Save the old values',
    lostOnReload: 'A reload of the page ends the time to undo it.',
    forget: 'Dismiss the undo of the last change',
    leaving: {
      unsavedTitle: 'Stop the undo?',
      unsaved: 'Some records are not undone yet.',
    },
  },
  firstVisit: {
    title: (title: string) => `No ${title.replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase())} yet`,
    samples: {
      name: 'Try it with samples',
      text: '200 products of a shop for home and garden, which you can delete again.',
      action: 'Load samples',
    },
    loaded: (count: number) => `${numberText(count)} sample products are loaded.`,
    file: {
      name: 'Bring what you have',
      text: 'A file of a spreadsheet or of another system. It is checked before anything is written.',
      action: 'Import a file',
    },
    record: { name: 'Begin by hand', text: 'In a form, one after the other.' },
    key: {
      name: 'Invite a system',
      text: 'A key of its own for your shop, your warehouse or a colleague.',
      action: 'Create a key',
    },
    webhook: {
      name: 'Watch changes',
      text: 'Your search or your shop is told of each change.',
      action: 'Create a webhook',
    },
  },
  place: {
    title: 'Place in the list',
    previous: '‹ Previous',
    next: 'Next ›',
  },
  live: {
    /** @returns an empty text if nothing happened */
    news: ({ changed, deleted, added }: Readonly<Record<'changed' | 'deleted' | 'added', number>>) => {
      const records = (count: number) => (count === 1 ? '1 record' : `${numberText(count)} records`);
      const parts = [
        ...(changed > 0 ? [`${records(changed)} changed`] : []),
        ...(deleted > 0 ? [`${records(deleted)} deleted`] : []),
        ...(added > 0 ? [records(added).replace(' ', ' new ')] : []),
      ];
      return parts.length === 0 ? '' : `${parts.join(', ')}.`;
    },
    show: 'Show new records',
    showNewest: 'Show the newest first',
    refresh: 'Refresh the list',
    marks: { changed: 'changed', deleted: 'deleted', new: 'new' },
    renewed: 'Somebody else changed this record. You see it as it is now.',
    stale: 'Somebody else has changed this record since.',
    untouched: 'Somebody else has changed this record since. What you typed is untouched.',
    compare: 'Compare both',
    showNow: 'Show it as it is now',
  },
  columns: {
    button: 'View',
    sort: 'Order',
    unsorted: 'Oldest first',
    sortBy: (field: string, isDown: boolean) => `${field}, ${isDown ? 'descending' : 'ascending'}`,
    distinct: 'Group variants',
    title: 'Columns',
    reset: 'Reset columns',
    pictures: 'Load pictures',
    none: '—',
    more: (count: number) => `+${count}`,
  },
  filters: {
    all: 'All',
    /** Several records with a value. */
    several: { draft: 'Drafts' } as Readonly<Record<string, string>>,
    button: (count: number) => (count === 0 ? 'Filters' : `Filters (${count})`),
    title: 'Filters',
    more: 'More filters',
    row: 'Filter',
    field: 'Field',
    key: 'Key',
    operator: 'Operator',
    value: 'Value',
    add: 'Add filter',
    remove: 'Remove this filter',
    apply: 'Apply',
    missingKey: 'Name the attribute.',
    listHint: (separator: string) => `Several values with ${separator === ';' ? 'semicolons' : 'commas'}.`,
    amountHint: (currency: string | undefined) =>
      currency === undefined
        ? `Such as ${amountText(4990, '')}. Without a filter by the currency, ${amountText(4990, 'EUR')} EUR and 4990 JPY count as equal.`
        : `In ${currency}, such as ${amountText(4990, currency)}.`,
    operators: {
      equals: 'is',
      ne: 'is not',
      lt: 'is less than',
      lte: 'is at most',
      gt: 'is more than',
      gte: 'is at least',
      in: 'is one of',
      all: 'has all of',
      prefix: 'begins with',
      exists: 'has a value',
    } as Readonly<Record<string, string>>,
  },
  facets: {
    failed: 'The counts could not be read',
    chosen: (count: number) => `${count} chosen`,
    prefix: 'Begins with',
    prefixOf: (label: string) => `${label}: begins with`,
    none: 'No record has a value.',
    noneWithPrefix: 'No value begins so. Capital and small letters differ.',
    more: 'More',
    moreOf: (label: string) => `More values of ${label}`,
    tooMany: (count: string) => `These are the ${count} most frequent ones. Type how another one begins.`,
    key: 'Another attribute',
    addKey: 'Add',
    noComma: 'Attributes with a comma in their name cannot be counted.',
    ranges: (label: string) => `${label} ranges`,
    rangesTitle: (title: string, currency: string) => `${title} by price in ${currency}`,
    currency: 'Currency of the prices',
    range: (from: string, below: string) => `${from} to below ${below}`,
    countAgain: 'Something changed: count again',
  },
  tree: {
    title: (label: string) => `Tree of ${label.toLowerCase()}`,
    below: (path: string) => `What is below ${path}`,
    atLeast: (count: string) => `at least ${count}`,
    read: (count: string) => `The ${count} most frequent ones are read.`,
    more: 'Read more',
  },
  form: {
    noValue: 'no value',
    emptyValue: 'empty text',
    open: 'Open',
    noPicture: 'No picture',
    search: (title: string) => `Search ${title}`,
    goneChoice: (id: string) => `ID ${id}`,
    key: 'Attribute',
    type: 'Type',
    value: 'Value',
    types: { text: 'Text', number: 'Number', boolean: 'Yes or no' },
    booleans: { true: 'yes', false: 'no' },
    cancel: 'Cancel',
    attribute: (key: string) => (key === '' ? 'new attribute' : `attribute ${key}`),
    addEntry: (entry: string) => `Add ${entry}`,
    entry: (entry: string, at: number) => `${entry} ${at + 1}`,
    removeRow: (row: string) => `Remove ${row}`,
    move: (row: string, step: -1 | 1) => `Move ${row} ${step < 0 ? 'up' : 'down'}`,
    removeChip: (text: string) => `Remove ${text}`,
    newTitle: (singular: string) => `New ${singular}`,
    create: 'Create',
    duplicate: 'Duplicate',
    copied: (name: string) => `This is a copy of ${name}. It is not saved yet.`,
    createAnew: 'Create it again',
    save: 'Save',
    saving: 'Saving…',
    revert: 'Discard changes',
    notSaved: 'Not saved yet',
    created: (singular: string, id: number) => `Created ${singular} ${id}.`,
    saved: (name: string) => `Saved ${name}.`,
    problemsTitle: 'Nothing was saved. Correct this first:',
    /** The part of a rule that a value breaks. */
    broken: {
      required: 'Fill this in.',
      noEntry: 'Add at least one.',
      characters: (most: number) => `At most ${numberText(most)} characters fit here.`,
      entries: (most: number) => `There can be at most ${numberText(most)}.`,
      range: (least: number, most: number) =>
        most === Number.MAX_SAFE_INTEGER
          ? `Write ${least} or more.`
          : `Write a number from ${numberText(least)} to ${numberText(most)}.`,
      taken: (singular: string) => `Another ${singular} has this already.`,
      repeated: 'This is there twice.',
      gone: 'This does not exist any more. Choose another one.',
      noKey: 'Give the attribute a name.',
      key: 'The name has at most 64 characters in one line.',
    },
    problem: problemText,
    goneTitle: 'Somebody deleted this record',
    gone: 'What you typed is still here. You can create a new record with it; the record gets another id.',
    unsavedTitle: 'Leave without saving?',
    unsaved: 'What you typed on this page is not saved.',
    stay: 'Stay on the page',
    leave: 'Leave without saving',
    stop: 'Stop and leave',
    referring: (title: string, singular: string) => `${title} of this ${singular}`,
    variants: (label: string, value: string) => `${label} ${value}: other variants`,
    allVariants: 'Show all',
    json: 'JSON',
    copyJson: 'Copy JSON',
  },
  conflict: {
    title: 'Somebody else changed this record',
    again: 'Somebody changed this record again',
    intro:
      'Nothing was saved. Choose a value for each field. Where only one of you changed it, that value is chosen already.',
    all: { yours: 'Choose all of yours', theirs: 'Choose all of theirs' },
    base: 'Before',
    yours: 'Yours',
    theirs: 'Theirs',
    attribute: (label: string, key: string) => `${label}: ${key}`,
    changedBy: { yours: 'Only you changed this.', theirs: 'Only the other person changed this.' },
    changedByBoth: 'Both of you changed this.',
    save: 'Save my choice',
    edit: 'Edit my choice',
  },
  deletion: {
    button: (singular: string) => `Delete this ${singular}`,
    waiting: (name: string) => `Deleted ${name}.`,
    sending: (name: string) => `Deleting ${name}…`,
    stillThere: (name: string) => `You deleted ${name}. The message at the end of the page can undo it.`,
    undo: 'Undo',
    undoOne: (name: string) => `Undo the deletion of ${name}`,
    failed: (name: string) => `${name} was not deleted.`,
    conflict: 'Somebody else has changed it.',
    show: 'Show it',
    dismiss: 'Dismiss',
    dismissOne: (name: string) => `Dismiss the message about ${name}`,
  },
  importing: {
    title: (resource: string) => `Import ${resource.toLowerCase()}`,
    file: 'Choose a file',
    drop: 'or drop it here',
    hint: 'The first row of CSV names its columns. You see how a file is read before anything is sent.',
    ndjsonHint: 'One JSON object a line.',
    template: 'Download an empty template',
    wrongFormat: (name: string, formats: string) => `${name} cannot be imported. Choose ${formats}.`,
    none: (resource: string) => `${resource} cannot be imported.`,
    forbidden: 'Your key does not allow to create these records.',
    previewTitle: (count: number) => (count === 1 ? 'The first record' : `The first ${count} records`),
    prices: `Check the prices. An amount is in the smallest unit: 25 EUR is ${PRICE_OF_25}.`,
    noPrice: (text: string) => `${text}: not a price`,
    noRecord: (text: string, problem = '') => `Not a record: ${text}. ${problem}`,
    reading: {
      title: 'Columns',
      inFile: 'In the file',
      values: 'First values',
      goesTo: 'Goes to',
      separator: 'Separator',
      separators: { ',': 'Comma', ';': 'Semicolon', '\t': 'Tab' },
      encoding: 'Character set',
      encodings: {
        'utf-8': 'UTF-8',
        'windows-1252': 'Windows-1252 (Western Europe)',
        'utf-16le': 'UTF-16',
        'utf-16be': 'UTF-16 BE',
      },
      numbers: 'Numbers',
      spellings: { plain: '1234.56', comma: '1.234,56', point: '1,234.56' },
      currency: 'Currency of the prices',
      nameless: (at: number) => `Column ${at}`,
      columnOf: (name: string) => `Goes to: ${name}`,
      none: 'Leave out',
      fields: 'Fields',
      attribute: (key: string) => `Attribute “${key}”`,
      attributeAs: (key: string, type: string) => `${key} (${type.toLowerCase()})`,
      spelled: (key: string, isTaken: boolean) =>
        isTaken ? `Other records have “${key}”.` : `A second attribute: other records have “${key}”.`,
      columns: {
        'price.decimal': 'Price',
        'price.amount': 'Price in the smallest unit',
        'price.currency': 'Currency',
        attributes: 'Attributes as JSON',
        deleted: 'Deleted: true or false',
      } as Readonly<Record<string, string>>,
    },
    use: 'How to use this file',
    add: 'Only add records',
    addOnly: (keys: string) => `This file adds records. It has no ${keys} to update them by.`,
    addHint: (key: string) => `A record whose ${key} exists already is refused.`,
    update: (key: string) => `Update by ${key}`,
    updateHint: (key: string, isId: boolean) =>
      isId
        ? `Each record of the file changes the one with its ${key}. If the file has versions too, it overwrites no later change.`
        : `Each record of the file changes the one with its ${key}, or is added if there is none.`,
    change: 'Change how it is read and used',
    existing: 'Records that exist already',
    ways: {
      merge: 'Keep what the file does not mention',
      replace: 'Replace each record',
      skip: 'Leave them alone',
    },
    wayHints: {
      merge: (isCsv: boolean) => (isCsv ? 'An empty cell changes nothing.' : 'A null removes a value.'),
      replace: (isCsv: boolean) =>
        isCsv
          ? 'An empty cell, or a column that the file does not have, removes the value.'
          : 'What the file does not mention is removed.',
      skip: () => 'Only new records are added.',
    },
    check: 'Check the file',
    checkTitle: 'Nothing is written yet',
    checkStopped: 'The check has stopped. Nothing is written.',
    noRecords: 'The file has no records.',
    noChange: 'This file changes nothing.',
    takenHint: (key: string) => `To change the records that exist already, choose “Update by ${key}”.`,
    findings: {
      ofAll: (title: string, shown: number, total: number) =>
        shown < total ? `${title}: the first ${shown} of ${numberText(total)}` : title,
      changes: 'Changes',
      conflicts: 'Changed since the export',
      refusals: 'Refused',
      additions: 'New',
      record: 'Record',
      field: 'Field',
      now: 'Now',
      inFile: 'In the file',
      whole: 'Whole record',
      deleted: 'deleted',
      gone: 'This record does not exist any more.',
      same: 'This record is by now as the file says.',
      number: 'No.',
      reason: 'Reason',
    },
    start: 'Start import',
    starting: 'Sending the first part…',
    cancel: 'Stop',
    stopped: 'The import has stopped. Continue whenever you like, as long as this page is open: nothing is done twice.',
    resume: 'Continue',
    otherKeyTitle: 'The import cannot go on with another key',
    otherKey: (first: number, last: number) =>
      `The connection was lost in records ${numberText(first)} to ${numberText(last)}. The service may have created them, and could tell only the key from before. See which of them are there, and import the rest as another file.`,
    waiting: (seconds: number) => `The rate limit is used up. The import continues in ${seconds} s.`,
    badHeader: 'The header row is invalid, so nothing was imported',
    doneTitle: 'The import is done',
    counted: {
      isNew: 'new',
      created: 'created',
      changed: 'changed',
      unchanged: 'unchanged',
      deleted: 'deleted',
      earlier: 'unchanged or done by an earlier attempt',
      refused: 'refused',
    },
    share: 'Share of the file that is done',
    percent: (percent: number) => `${percent} %`,
    download: (count: number) => `Download the refused records (${numberText(count)})`,
    another: 'Choose another file',
    leaving: {
      unsavedTitle: 'Stop the import?',
      unsaved: 'The import of this file is not finished. If you leave, the rest is not imported.',
    },
    toList: (resource: string) => `Show ${resource.toLowerCase()}`,
  },
  exporting: {
    button: 'Export',
    hint: 'All records that match the search and the filters.',
    as: (format: string) => `As ${format}`,
    forEditing: 'To edit and import again',
    forEditingHint: (isCsv: boolean) =>
      `${isCsv ? 'A file for Excel and LibreOffice' : 'NDJSON'}. Its import updates these records, and overwrites no change that somebody else makes meanwhile.`,
    forExcel: 'For Excel',
    forExcelHint: 'To look at: prices and numbers as your language writes them, and a column for each attribute.',
    running: (size: string) => `Exporting… ${size}`,
    cancel: 'Cancel export',
    done: (name: string, size: string) => `${name} is saved: ${size}.`,
    failed: 'Nothing was saved.',
    size: (bytes: number) =>
      bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`,
  },
  secrets: {
    copy: 'Copy',
    done: 'Done',
    renewed: 'The new secret',
    of: {
      'api-keys': {
        created: 'The key is created',
        once: 'Copy the key now: the service stores only its hash and cannot show it again.',
        replayed:
          'The key was already created by an earlier attempt, whose response was lost. Revoke it and create another.',
      },
      webhooks: {
        created: 'The webhook is created',
        once: 'Copy the secret now: the service does not show it again. The receiver needs it to check the signature of each message.',
        replayed:
          'The webhook was already created by an earlier attempt, whose response was lost together with the secret. Make a new secret on its page.',
      },
    },
  },
  webhooks: {
    settings: 'Settings',
    secret: 'Secret',
    secretText: 'It signs the messages. The service does not show it again, but can make a new one.',
    renew: 'Make a new secret',
    renewTitle: 'Make a new secret?',
    renewText:
      'The new secret signs at once. The old one signs too for 24 hours, which is the time to give the receiver the new one.',
    test: 'Send a test',
    testing: 'Sending…',
    tested: (isTaken: boolean, outcome: string) =>
      isTaken ? `The test message was delivered. ${outcome}.` : `The test message was not delivered. ${outcome}.`,
    responded: (status: number) => `Status ${status}`,
    pause: 'Pause',
    pausedNow: 'The webhook is paused. It reports what changes until then when you resume it.',
    resume: 'Resume',
    resumed: 'The webhook sends again.',
    isPaused: 'It is paused',
    isFailing: 'The last message was not delivered. The service sends it again',
    delete: 'Delete',
    deleteTitle: (name: string) => `Delete “${name}”?`,
    deleteText: 'Nothing is reported to its receiver from then on. This cannot be undone.',
    deleted: (name: string) => `“${name}” is deleted.`,
    deliveries: 'Last deliveries',
    noDeliveries: 'None yet. A test shows whether the receiver can be reached.',
    refresh: 'Refresh',
    at: 'Time',
    message: 'Message',
    changes: 'Changes',
    outcome: 'Outcome',
    taken: 'delivered',
    notTaken: 'not delivered',
  },
  /** What a scope allows. An unknown one stands for itself. */
  scope: (scope: string): string => {
    const [name = '', action] = scope.split(':');
    const records = name.replaceAll('-', ' ');
    if (scope === 'products:read') return 'See all products, also drafts and archived ones';
    if (scope === 'keys:admin') return 'Create and revoke API keys';
    if (scope === 'webhooks:admin') return 'Create, change and delete webhooks';
    if (action === 'read') return `See ${records}`;
    return action === 'write' ? `Create, change, import and delete ${records}` : scope;
  },
  keys: {
    expired: 'expired',
    revoke: 'Revoke',
    revokeTitle: (name: string) => `Revoke “${name}”?`,
    revokeText: 'Programs that use it stop working within seconds. This cannot be undone.',
    revokeOwn: 'If this is the key that you use now, you are signed out.',
    revoked: (name: string) => `“${name}” is revoked.`,
    usage: 'Requests of the last 24 hours',
    noUsage: 'None.',
    route: 'Route',
    requests: 'Requests',
  },
  errors: {
    retry: 'Try again',
    close: 'Close',
    requestId: (id: string) => `Request id: ${id}`,
    unauthenticated: {
      title: 'You are signed out',
      text: 'The service no longer accepts this key. Sign in again; what you have typed stays on this page.',
    },
    wrongKey: {
      title: 'The service does not accept this key',
      text: 'Check that you have copied all of it, and that it has not expired or been revoked.',
    },
    forbidden: {
      title: 'This key does not allow that',
      text: (scope: string) =>
        scope === ''
          ? 'It does not have the scope for it.'
          : `It needs the scope ${scope}. Sign in with a key that has it.`,
    },
    lastAdmin: {
      title: 'The last key that may manage keys',
      text: 'This is the last key with the scope keys:admin that has not expired, so it cannot be revoked here. Create another one first.',
    },
    notFound: { title: 'There is no such record', text: 'It was deleted, or the link is wrong.' },
    conflict: { title: 'Somebody else changed this record', text: 'Read it again before you change it.' },
    alteredTag: {
      title: 'The service does not know this version of the record',
      text: 'Nobody has changed the record. Something between this page and the service, perhaps a proxy, alters the header ETag or If-Match.',
    },
    fileChanged: {
      title: 'The file has changed',
      text: 'It was changed, moved or deleted after you chose it. Choose it again.',
    },
    rateLimited: {
      title: 'Too many requests',
      text: (seconds: number | undefined) =>
        seconds === undefined
          ? 'The rate limit is used up. Try again in a minute.'
          : `The rate limit is used up. Try again in ${seconds} s.`,
    },
    unavailable: {
      title: 'The service cannot respond now',
      text: 'Its store is unreachable, or it is overloaded. Try again in a moment.',
    },
    lost: {
      title: 'No connection to the service',
      text: 'The request got no response. Check your network, then try again.',
    },
    unknownOutcome: {
      title: 'It is not known whether this was done',
      text: 'The connection was lost during the change. Read the record to find out.',
    },
    unexpected: {
      title: 'The response did not come from the service',
      text: 'Something between this page and the service has responded in its place, perhaps a proxy.',
    },
    internal: {
      title: 'The service failed',
      text: 'That is an error in the service. Its log has the cause.',
    },
    refused: 'The service refused the request',
    program: { title: 'This page failed', text: 'That is an error in the console.' },
    noPage: {
      title: 'There is no such page',
      text: 'The link is wrong, or your key does not allow the page.',
    },
  },
  status: {
    skip: 'Skip to the content',
    skipToRecords: 'Skip to the records',
    navigation: 'Resources',
    docs: 'API reference',
    settings: 'Settings',
    about: 'About this connection',
    service: 'Service',
    version: 'Version',
    allowed: 'Your key allows',
    latency: 'Last response after',
    milliseconds: (milliseconds: number) => `${milliseconds} ms`,
    rateLimit: 'Requests left',
    left: (remaining: number, limit: number | undefined, resetSeconds: number) =>
      `${numberText(remaining)}${limit === undefined ? '' : ` of ${numberText(limit)}`}, counted anew in ${resetSeconds} s`,
    theme: 'Theme',
    themes: { light: 'Light', dark: 'Dark', system: 'System' },
    dismiss: 'Dismiss',
    messages: 'Messages',
    starting: 'Reading the description of the service…',
  },
};

/** What is wrong with a text that a person typed for a number. */
function problemText(problem: NumberProblem | { readonly code: 'repeated_key' }): string {
  switch (problem.code) {
    case 'not_a_number':
      return `Write a number like ${typedText(1250)} or ${typedText(-7.5)}.`;
    case 'not_an_integer':
      return `Write a whole number like ${typedText(1250)}.`;
    case 'too_precise':
      return 'This number has more digits than can be kept exactly.';
    case 'repeated_key':
      return 'Another attribute has the same key.';
    case 'ambiguous': {
      const [one = '', other = ''] = problem.readings.map((reading) => typedText(Number(reading)));
      return `Do you mean ${one} or ${other}? Write one of the two.`;
    }
    case 'not_a_price': {
      const { currency } = problem;
      const digits = currencyDigits(currency);
      const most = digits === 0 ? 'no digits' : `at most ${digits} digits`;
      // A currency that is not typed yet, or wrong, is not named.
      const whose = /^[A-Z]{3}$/.test(currency) ? ` for ${currency}` : '';
      return `Write a price like ${amountText(4990, currency)}: ${most} after the decimal mark${whose}.`;
    }
  }
}
