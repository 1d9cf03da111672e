"""Shader functions for patterns as in ``rendering/cycles/set_patterns.py``, and for the sky."""

from mimegen.rendering.opengl.clouds import BEGIN, COLOR, OCTAVES, WHOLE

NOISE = """
// Always 0: keeps compilers from unrolling loops into very long code.
uniform int none;
// Blender's own hash (Jenkins, lookup3) and gradient noise, so that patterns match those of Cycles.
uint lattice(ivec3 at) {
    uvec3 h = uvec3(0xdeadbeefu + 25u) + uvec3(at);
    h.z ^= h.y; h.z -= (h.y << 14u) | (h.y >> 18u);
    h.x ^= h.z; h.x -= (h.z << 11u) | (h.z >> 21u);
    h.y ^= h.x; h.y -= (h.x << 25u) | (h.x >> 7u);
    h.z ^= h.y; h.z -= (h.y << 16u) | (h.y >> 16u);
    h.x ^= h.z; h.x -= (h.z << 4u) | (h.z >> 28u);
    h.y ^= h.x; h.y -= (h.x << 14u) | (h.x >> 18u);
    h.z ^= h.y; h.z -= (h.y << 24u) | (h.y >> 8u);
    return h.z;
}
float slope(uint h, vec3 p) {
    h &= 15u;
    float u = h < 8u ? p.x : p.y;
    float v = h < 4u ? p.y : (h == 12u || h == 14u ? p.x : p.z);
    return ((h & 1u) != 0u ? -u : u) + ((h & 2u) != 0u ? -v : v);
}
float wave(vec3 p) {
    ivec3 c = ivec3(floor(p));
    vec3 f = fract(p), w = f * f * f * (f * (f * 6.0 - 15.0) + 10.0);
    float sides[4];
    for (int i = 0; i < 4; i++) {
        ivec3 o = ivec3(0, i & 1, i >> 1);
        sides[i] = mix(slope(lattice(c + o), f - vec3(o)),
                       slope(lattice(c + o + ivec3(1, 0, 0)), f - vec3(o) - vec3(1.0, 0.0, 0.0)),
                       w.x);
    }
    return 0.982 * mix(mix(sides[0], sides[1], w.y), mix(sides[2], sides[3], w.y), w.z);
}
// Noise of several octaves, from 0 to 1 around 0.5.
float fbm(vec3 p, int octaves) {
    float sum = 0.0, size = 1.0, all = 0.0;
    for (int i = none; i < octaves; i++) {
        sum += size * wave(p); all += size; size *= 0.5; p *= 2.0;
    }
    return 0.5 * sum / all + 0.5;
}
"""

PATTERNS = """
uniform vec3 color, second, joint;
uniform vec2 size;
uniform float gap;

// Blender's brick texture: every second row is shifted, and each brick has a tint of its own.
float brick_tint(int row, int column) {
    int n = (row << 16) + (column & 0xffff);
    n = (n + 1013) & 0x7fffffff;
    n = (n >> 13) ^ n;
    return 0.5 * float((n * (n * n * 60493 + 19990303) + 1376312589) & 0x7fffffff) / 1073741824.0;
}
vec3 brickwork(float offset) {
    float row = floor(on.y / size.y);
    float shift = mod(row, 2.0) == 0.0 ? offset : 0.0;
    float column = floor(on.x / size.x + shift);
    vec2 within = vec2(fract(on.x / size.x + shift) * size.x, fract(on.y / size.y) * size.y);
    vec2 edge = min(within, size - within);
    float seam = gap * size.y / 2.0;
    vec2 half_pixel = 0.5 * fwidth(on) + 1e-5;
    vec2 covered = max(min(edge + half_pixel, seam) - max(edge - half_pixel, -seam), 0.0);
    vec2 apart = 1.0 - covered / (2.0 * half_pixel);
    float tint = clamp(brick_tint(int(row), int(column)), 0.0, 1.0);
    float grain = fbm(vec3(4.0 * on.x / size.x, 2.5 * on.y / size.y, 0.0), 3);
    vec3 shade = vec3(mix(0.9, 1.06, smoothstep(0.3, 0.7, grain)));
    return mix(joint, mix(color, second, tint), apart.x * apart.y) * shade;
}

vec3 sand(vec3 p) {
    float share = 0.6 * fbm(0.35 * p, 4) + 0.4 * fbm(60.0 * p, 3);
    return mix(second, color, smoothstep(0.36, 0.62, share));
}

vec3 shore(out float wetness) {
    float d = away + 1.6 * (fbm(0.45 * inside, 4) - 0.5);
    float share = 0.6 * fbm(0.35 * inside, 4) + 0.4 * fbm(60.0 * inside, 3);
    vec3 ground = mix(0.6 * color, color, smoothstep(0.36, 0.62, share));
    vec3 wet = mix(ground, 0.42 * color, smoothstep(-1.3, -0.15, d));
    vec3 depth = mix(min(2.6 * second, 1.0), second, smoothstep(0.0, 3.5, d));
    depth = mix(depth, 0.35 * second, smoothstep(4.0, 60.0, d));
    float ridges = fbm(inside * vec3(0.05, 0.3, 1.0), 4);
    depth *= mix(0.7, 1.35, smoothstep(0.35, 0.65, ridges));
    vec3 sea = mix(wet, depth, smoothstep(-0.12, 0.05, d));
    float caps = smoothstep(6.0, 12.0, d) * smoothstep(0.6, 0.66, ridges)
        * smoothstep(0.56, 0.62, fbm(inside * vec3(0.5, 1.6, 1.0), 3));
    float foam = smoothstep(-0.2, 0.12, d) * (1.0 - smoothstep(0.35, 1.5, d));
    float crest = smoothstep(2.2, 2.5, d) * (1.0 - smoothstep(2.6, 3.3, d));
    float lace = smoothstep(0.42, 0.58, fbm(2.2 * inside, 4));
    wetness = smoothstep(-1.0, 0.0, d);
    return mix(sea, vec3(0.9, 0.93, 0.95), clamp((foam + crest) * lace + caps, 0.0, 1.0));
}

float swell(vec3 p) { return 0.48 * fbm(p * vec3(0.35, 1.1, 1.0), 5); }

// The sea's normal: vertical on land, and far away, where waves are finer than pixels.
vec3 waves(float wetness) {
    vec2 rise = vec2(swell(inside + vec3(0.1, 0.0, 0.0)), swell(inside + vec3(0.0, 0.1, 0.0)));
    float steep = 10.0 * wetness / (1.0 + length(eye - at) / 12.0);
    return normalize(vec3(steep * (swell(inside) - rise), 1.0));
}

// A print: three ridges, one behind the other, below a low sun; copies show other parts of it.
vec3 painting() {
    vec3 moved = strewn - inside;
    float level = inside.z / size.y, along = (strewn.x + strewn.y) / size.x;
    vec2 sun = vec2(inside.x / size.x - 0.3 * sin(moved.x + moved.y),
                    (level - 0.68) * size.y / size.x);
    vec3 seen = mix(color, vec3(0.85, 0.6, 0.36), 0.45 * smoothstep(1.0, 0.3, level));
    seen = mix(seen, vec3(0.88, 0.5, 0.22), 1.0 - smoothstep(0.115, 0.125, length(sun)));
    for (int i = none; i < 3; i++) {
        float ridge = 0.56 - 0.17 * float(i)
            + 0.5 * (fbm(vec3(1.3 * along + 7.0 * float(i), 0.5, 0.5), 5) - 0.5);
        vec3 tone = mix(color, second, 0.4 + 0.3 * float(i)) * (0.85 + 0.3 * ridge);
        seen = mix(tone, seen, smoothstep(-0.006, 0.006, level - ridge));
    }
    return seen;
}

// A lawn mown in two directions, with soft, ragged edges between the bands; paler where it is dry.
vec3 mown() {
    float blades = fbm(70.0 * inside, 3), patches = fbm(0.5 * inside, 5);
    float band = abs(fract(on.x / size.x + 0.1 * (patches - 0.5)) - 0.5) * 2.0;
    float share = smoothstep(0.5 - gap, 0.5 + gap, band + gap * (blades - 0.5));
    vec3 dry = mix(vec3(0.84, 0.86, 0.9), vec3(1.2, 1.1, 0.95), smoothstep(0.36, 0.64, patches));
    return mix(color, second, share) * dry * mix(0.7, 1.25, smoothstep(0.3, 0.7, blades));
}

// A lawn, a row of trees on it, a hill and a sky; copies show other parts of it.
vec3 outdoors() {
    vec3 p = vec3((strewn.x + strewn.y) / size.x, 0.0, inside.z / size.x);
    float level = inside.z / size.y, leaves = fbm(11.0 * p, 6), drift = fbm(0.9 * p.xyy, 2);
    float row = p.x + 0.8 * drift, lobe = sin(PI * row), crown = 0.5 + 0.5 * lobe * lobe;
    float top = 0.24 + (0.16 + 0.5 * drift) * crown + 0.3 * (leaves - 0.5);
    float light = smoothstep(0.3, 0.68, leaves + 0.35 * (level - 0.4));
    vec3 tree = mix(0.3 * second, min(1.5 * second, 1.0), light);
    vec3 hill = mix(second, color, 0.6);
    vec3 behind = mix(hill, color, smoothstep(-0.02, 0.02, level - 0.3 - 0.3 * drift));
    vec3 shown = mix(tree, behind, smoothstep(-0.015, 0.015, level - top));
    vec3 lawn = min(vec3(1.7, 1.9, 1.1) * second, 1.0) * mix(0.8, 1.0, leaves);
    return mix(lawn, shown, smoothstep(-0.01, 0.01, level - 0.13 - 0.05 * drift));
}

// The length of net cords between 0 and ``x`` along each axis, all in meshes.
vec2 corded(vec2 x) { return floor(x) * gap + min(fract(x), gap); }

// The fraction of a pixel that a net's cords cover; 1 for other patterns.
float covered() {
#if PATTERN == 12
    vec2 half_pixel = 0.5 * fwidth(on) / size + 1e-5, at_mesh = on / size;
    vec2 open = 1.0 - (corded(at_mesh + half_pixel) - corded(at_mesh - half_pixel))
        / (2.0 * half_pixel);
    return 1.0 - open.x * open.y;
#else
    return 1.0;
#endif
}

vec3 patterned(out float wetness) {
    wetness = 0.0;
#if PATTERN == 1
    return mix(color, second,
        smoothstep(0.35, 0.68, fbm(strewn / vec3(size.x, size.y, size.y), 6)));
#elif PATTERN == 2
    return brickwork(0.37);
#elif PATTERN == 3
    return brickwork(0.0);
#elif PATTERN == 4
    return brickwork(0.5);
#elif PATTERN == 5
    return mix(second, color, smoothstep(0.12, 0.42,
        fbm(260.0 / size.x * inside, 2) * fbm(2.5 / size.x * inside, 3)));
#elif PATTERN == 6
    return mix(color, second, smoothstep(0.38, 0.64, fbm(strewn / size.x, 7)));
#elif PATTERN == 7
    return sand(inside);
#elif PATTERN == 8
    return fract(on.x / size.x) > 0.5 ? second : color;
#elif PATTERN == 9
    return painting();
#elif PATTERN == 10
    return outdoors();
#elif PATTERN == 11
    return shore(wetness);
#elif PATTERN == 13
    return mown();
#else
    return color;
#endif
}
"""

SKY = f"const vec3 CLOUD = vec3{COLOR};\nconst vec2 CLOUDS_BEGIN = vec2{(BEGIN, WHOLE)};\n" \
    f"const int CLOUD_OCTAVES = {OCTAVES};" """
uniform vec3 zenith, horizon, below;
uniform float clouds, strength;
vec3 sky_above(vec3 to) {
    vec3 clear = mix(horizon, zenith, smoothstep(0.0, 0.45, to.z));
#ifdef CLOUDED
    float drift = fbm(1.6 * to * vec3(2.0, 2.0, 9.0), CLOUD_OCTAVES);
    clear = mix(clear, CLOUD, clouds * smoothstep(CLOUDS_BEGIN.x, CLOUDS_BEGIN.y, drift));
#endif
    return strength * clear;
}
"""
