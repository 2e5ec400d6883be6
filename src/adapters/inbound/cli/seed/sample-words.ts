type Words = readonly [string, ...string[]];

/** A kind of product: its names, materials and prices. */
export interface SampleKind {
  /** Begins the sku. */
  readonly code: string;
  readonly nouns: Words;
  readonly materials: Words;
  /** The lowest and the highest price in euro cents. */
  readonly price: readonly [number, number];
}

function words(text: string): Words {
  const [first = '', ...others] = text.split(', ');
  return [first, ...others];
}

function kind(code: string, nouns: string, materials: string, low: number, high: number): SampleKind {
  return { code, nouns: words(nouns), materials: words(materials), price: [low, high] };
}

/** The first ones are common, the last ones rare. */
export const SAMPLE_BRANDS = words(
  'Nordlicht, Halden, Brightwater, Oakmere, Lumen & Co, Verano, Kestrel, Pinewood, Marlow, Atelier Roux, Fjordmark, ' +
    'Castell, Blue Heron, Tamarind, Orrery, Sable, Quillon, Alder, Wexham, Bellweather, Copperfield Supply, Estrella, ' +
    'Meridian, Tideline, Hartwell, Åkerlund, Crème Anglaise, Solvang, Ironbridge, Papaver, Lindqvist, Montségur, ' +
    'Zephyr, Grünwald, Søndergaard, Café Olé, Nimbus, Peregrine, Żuraw, Ñandú, Vela, Ørsted Minor, Thistle, ' +
    'Yarrow, Ukiyo 浮世, Dvořák & syn, Xylo, 工房, Северный ветер, Ελιά, Łódka, de Vries, eco, İpek, Œuvre, 光 Hikari',
);

export const SAMPLE_LINES = words(
  'Classic, Compact, Everyday, Deluxe, Studio, Heritage, Slim, Outdoor, Pro, Junior, Foldable, Portable, Vintage, ' +
    'Handmade, Rustic, Modern, Essential, Grand, Pocket, Travel, Silent, Rapid, Gentle, Bold, Arctic, Coastal, Urban, ' +
    'Alpine, Midnight, Sunrise, Extra-light, Heavy-duty, Stackable, Reversible, Adjustable, Double, Round, Tall, ' +
    'Children’s, Naïve, Rosé, Émeraude, Mini, XL, Second Edition, Limited Edition',
);

export const SAMPLE_COLOURS = words(
  'black, white, grey, navy, red, green, natural, beige, blue, brown, yellow, teal, orange, silver, ivory, burgundy, ' +
    'pink, olive, copper, turquoise, écru, lilac, chartreuse, 藍',
);

export const SAMPLE_PLACES = words(
  'Rotterdam, Porto, Aarhus, Lyon, Kraków, Graz, Leeds, Turin, Gothenburg, Zürich, Bilbao, Tallinn, Kyoto, Montréal, ' +
    'Malmö, Ljubljana, Thessaloniki, São Paulo, İzmir, Reykjavík',
);

export const SAMPLE_KINDS: readonly [SampleKind, ...SampleKind[]] = [
  kind(
    'LGT',
    'Lamp, Desk Lamp, Floor Lamp, Pendant Light, Lantern, String Lights, Torch, Wall Light',
    'brass, steel, paper, glass, linen, oak',
    900,
    60_000,
  ),
  kind(
    'KIT',
    'Kettle, Teapot, Frying Pan, Saucepan, Whisk, Chef’s Knife, Cutting Board, Mixing Bowl, Ladle, Jug, Mug, Cup, Plate, Grater',
    'stainless steel, cast iron, porcelain, beech, stoneware, enamel',
    400,
    25_000,
  ),
  kind(
    'FUR',
    'Chair, Armchair, Stool, Bench, Bookcase, Side Table, Dining Table, Bed Frame, Wardrobe, Sofa, Shelf',
    'oak, walnut, birch, rattan, steel, velvet',
    3_900,
    350_000,
  ),
  kind(
    'TXT',
    'Blanket, Cushion, Curtain, Rug, Towel, Bed Linen, Tablecloth, Throw, Bath Mat',
    'linen, cotton, wool, bamboo, jute, silk',
    700,
    45_000,
  ),
  kind(
    'CLO',
    'Shirt, Jacket, Scarf, Socks, Jumper, Trousers, Cap, Gloves, Raincoat, Dress, Apron',
    'cotton, merino wool, denim, linen, fleece, cashmere',
    500,
    60_000,
  ),
  kind(
    'SHO',
    'Boots, Sandals, Trainers, Slippers, Clogs, Loafers, Wellingtons',
    'leather, suede, canvas, rubber, cork',
    1_900,
    40_000,
  ),
  kind(
    'BAG',
    'Backpack, Tote Bag, Suitcase, Wallet, Satchel, Toiletry Bag, Duffel',
    'canvas, leather, nylon, felt, waxed cotton',
    900,
    55_000,
  ),
  kind(
    'STA',
    'Notebook, Fountain Pen, Pencil Set, Calendar, Envelope Set, Ruler, Ink, Folder, Stapler',
    'paper, brass, cedar, recycled card, aluminium',
    150,
    20_000,
  ),
  kind(
    'TOY',
    'Puzzle, Wooden Train, Kite, Board Game, Doll, Building Blocks, Yo-yo, Marble Run, Plush Bear',
    'beech, cardboard, cotton, pine, plastic',
    300,
    15_000,
  ),
  kind(
    'TOO',
    'Hammer, Screwdriver, Drill, Spanner Set, Hand Saw, Spirit Level, Toolbox, Clamp, Chisel',
    'steel, ash, carbon steel, aluminium',
    400,
    48_000,
  ),
  kind(
    'GDN',
    'Watering Can, Plant Pot, Trowel, Secateurs, Bird Feeder, Hose, Rake, Seed Tray, Garden Bench',
    'terracotta, zinc, teak, steel, recycled plastic',
    250,
    65_000,
  ),
  kind(
    'SPO',
    'Yoga Mat, Dumbbell, Tennis Racket, Football, Skipping Rope, Water Bottle, Helmet, Tent, Sleeping Bag',
    'cork, neoprene, aluminium, nylon, rubber',
    600,
    70_000,
  ),
  kind(
    'ELE',
    'Headphones, Loudspeaker, Radio, Charger, Keyboard, Mouse, Power Bank, Alarm Clock, Webcam, Router',
    'aluminium, recycled plastic, walnut, glass',
    900,
    190_000,
  ),
  kind(
    'FOO',
    'Olive Oil, Coffee Beans, Green Tea, Honey, Jam, Chocolate, Sea Salt, Pasta, Vinegar, Shortbread, Jalapeño Sauce',
    'organic, single-origin, unsweetened, smoked, stone-ground',
    180,
    9_000,
  ),
  kind(
    'BAT',
    'Soap, Shampoo Bar, Hairbrush, Razor, Bath Salts, Face Cream, Comb, Nail Brush, Crème de Nuit',
    'olive, lavender, boar bristle, beech, almond',
    200,
    18_000,
  ),
  kind(
    'BOO',
    'Cookbook, Atlas, Field Guide, Novel, Sketchbook, Picture Book, Dictionary, Travel Guide',
    'hardback, paperback, cloth-bound, large-print',
    500,
    12_000,
  ),
  kind(
    'MUS',
    'Ukulele, Harmonica, Tambourine, Guitar Strings, Music Stand, Metronome, Glockenspiel',
    'spruce, maple, brass, nylon, steel',
    400,
    120_000,
  ),
  kind(
    'PET',
    'Dog Lead, Cat Tree, Bird Cage, Food Bowl, Scratching Post, Aquarium, Pet Bed',
    'sisal, leather, glass, ceramic, wool',
    350,
    42_000,
  ),
];
